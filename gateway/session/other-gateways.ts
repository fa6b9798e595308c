import { randomUUID } from 'node:crypto';
import type { Question } from '../../shared/cvms/messages-to-gateways.ts';
import type { CommandStream } from '../../shared/cvms/command-stream.ts';
import { log } from '../../shared/logger.ts';
import type { GatewayParts } from '../gateway-parts.ts';
import type { CvmIdentity } from '../identity/cvm-identity.ts';

/** Asks other gateways whether an agent answers that they hold, and answers them. */
export class OtherGateways {
  private readonly parts: GatewayParts;
  private readonly answerTo: (question: Question) => Promise<boolean>;
  private readonly waiting = new Map<string, (answers: boolean | undefined) => void>();
  /** The questions that are being answered. */
  private readonly answering = new Set<string>();
  private nextAt = 0;
  /** When the messages were last read. */
  private readAt = -Infinity;
  private reading = false;

  /** @param answerTo returns whether the agent answers on this gateway's stream */
  constructor(parts: GatewayParts, answerTo: (question: Question) => Promise<boolean>) {
    this.parts = parts;
    this.answerTo = answerTo;
  }

  /**
   * @returns false if the agent does not answer, or if its gateway is gone
   * @throws Error if the table does not answer, so that nothing is known
   */
  async doesAnswer({ domain, cvmId }: CvmIdentity, { gateway, stream }: CommandStream): Promise<boolean> {
    const { service, timings, clock, id: from } = this.parts;
    if (!(await service.isAlive(gateway))) return false;
    const id = randomUUID();
    const { promise, resolve } = Promise.withResolvers<boolean | undefined>();
    const askedAt = clock.now();
    this.waiting.set(id, resolve);
    // The agent's time, and that of two messages, of which each may just have missed a look.
    const timer = setTimeout(() => resolve(undefined), timings.answer + 3 * timings.messages);
    try {
      await service.sendMessage(gateway, { type: 'question', id, from, domain, cvm_id: cvmId, stream });
      const answers = await promise;
      if (answers === undefined && this.readAt < askedAt + timings.answer) throw new Error('An answer could not be read.');
      return answers ?? false;
    } finally {
      clearTimeout(timer);
      this.waiting.delete(id);
    }
  }

  /** Reads the messages if it is time. */
  tick(): void {
    const { clock, timings } = this.parts;
    if (this.reading || clock.now() < this.nextAt) return;
    this.nextAt = clock.now() + timings.messages;
    this.reading = true;
    void this.read()
      .catch((error: unknown) => log('WARN', 'The messages of other gateways cannot be read now.', {}, error))
      .finally(() => (this.reading = false));
  }

  private async read(): Promise<void> {
    const { service, clock, id: own } = this.parts;
    const startedAt = clock.now();
    const messages = await service.messages();
    this.readAt = startedAt;
    const removals = messages.flatMap((message) => {
      if (message.type === 'answer') {
        this.waiting.get(message.id)?.(message.answers);
        return [service.removeMessage(own, message.id)];
      }
      void this.answer(message);
      return [];
    });
    await Promise.all(removals);
  }

  private async answer(question: Question): Promise<void> {
    const { service, id: own } = this.parts;
    const { id, from } = question;
    if (this.answering.has(id)) return;
    this.answering.add(id);
    try {
      await service.sendMessage(from, { type: 'answer', id, answers: await this.answerTo(question) });
      await service.removeMessage(own, id);
    } catch (error) {
      log('WARN', 'A question of another gateway cannot be answered now.', { from }, error); // the message is read again
    } finally {
      this.answering.delete(id);
    }
  }
}
