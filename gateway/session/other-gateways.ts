import { randomUUID } from 'node:crypto';
import type { Question } from '../../shared/cvms/gateway-letters.ts';
import type { Holder } from '../../shared/cvms/hold-cvm.ts';
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
  /** When the letters were last read. */
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
  async doesAnswer({ domain, cvmId }: CvmIdentity, { gateway, stream }: Holder): Promise<boolean> {
    const { service, timings, clock, id: from } = this.parts;
    if (!(await service.isAlive(gateway))) return false;
    const id = randomUUID();
    const { promise, resolve } = Promise.withResolvers<boolean | undefined>();
    const askedAt = clock.now();
    this.waiting.set(id, resolve);
    // The agent's time, and that of two letters, of which each may just have missed a look.
    const timer = setTimeout(() => resolve(undefined), timings.answer + 3 * timings.letters);
    try {
      await service.sendLetter(gateway, { type: 'question', id, from, domain, cvm_id: cvmId, stream });
      const answers = await promise;
      if (answers === undefined && this.readAt < askedAt + timings.answer) throw new Error('An answer could not be read.');
      return answers ?? false;
    } finally {
      clearTimeout(timer);
      this.waiting.delete(id);
    }
  }

  /** Reads the letters if it is time. */
  tick(): void {
    const { clock, timings } = this.parts;
    if (this.reading || clock.now() < this.nextAt) return;
    this.nextAt = clock.now() + timings.letters;
    this.reading = true;
    void this.read()
      .catch((error: unknown) => log('WARN', 'The letters of other gateways cannot be read now.', {}, error))
      .finally(() => (this.reading = false));
  }

  private async read(): Promise<void> {
    const { service, clock, id: own } = this.parts;
    const startedAt = clock.now();
    const letters = await service.letters();
    this.readAt = startedAt;
    const removals = letters.flatMap((letter) => {
      if (letter.type === 'answer') {
        this.waiting.get(letter.id)?.(letter.answers);
        return [service.removeLetter(own, letter.id)];
      }
      void this.answer(letter);
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
      await service.sendLetter(from, { type: 'answer', id, answers: await this.answerTo(question) });
      await service.removeLetter(own, id);
    } catch (error) {
      log('WARN', 'A question of another gateway cannot be answered now.', { from }, error); // the letter is read again
    } finally {
      this.answering.delete(id);
    }
  }
}
