import { randomUUID } from 'node:crypto';
import { readRegistration } from '../rows/command-stream.ts';
import { messageToGateway, removeMessageToGateway, sendToGateway } from '../rows/messages-to-gateways.ts';
import type { RunReference } from '../rows/run.ts';
import { type Clock, steadyTimeOf } from '../runtime/deadline.ts';
import type { Table } from '../table/table.ts';

/** The time for which the answer of an agent is awaited. */
const longestInMilliseconds = 5_000;
const pauseInMilliseconds = 100;

/** The state that an agent answered, and the stream over which it did. */
export interface AnsweredState {
  state: string;
  stream: string;
}

/**
 * Asks the agent of a CVM for its state, over the stream that takes its commands, by the gateway that has it.
 * @returns undefined if no gateway has such a stream, or no answer comes in 5 seconds
 */
export async function askAgent(
  table: Table,
  clock: Clock,
  { domain, cvm_id }: Pick<RunReference, 'domain' | 'cvm_id'>,
  now: string,
): Promise<AnsweredState | undefined> {
  const { commandStream } = (await readRegistration(table, { domain, cvmId: cvm_id })) ?? {};
  if (!commandStream) return undefined;
  const { gateway, stream } = commandStream;
  const id = randomUUID();
  const from = `release-${id}`; // an address of its own, so that no gateway takes the answer
  await sendToGateway(table, gateway, { type: 'question', id, from, domain, cvm_id, stream, is_rival: false }, now);
  for (const endsAt = steadyTimeOf(clock) + longestInMilliseconds; ;) {
    const answer = await messageToGateway(table, from, id);
    if (answer) await removeMessageToGateway(table, from, id);
    if (answer) return answer.type === 'answer' && answer.state !== null ? { state: answer.state, stream } : undefined;
    if (steadyTimeOf(clock) >= endsAt) return undefined;
    await clock.wait(pauseInMilliseconds);
  }
}
