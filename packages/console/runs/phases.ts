import type { Schemas } from 'computation-management-client';
import { eventText } from '../events/event-texts.ts';
import { eventsOfKeys } from './key-events.ts';

/** A phase of a run, between two events. Times are in milliseconds since 1970. */
export interface Phase {
  name: string;
  from: number;
  to: number;
  state: 'done' | 'active' | 'failed';
}

/** The names of the phases of a run, by the type of the event that begins the phase. Other types begin a phase of their own name. */
const names = new Map([
  ['ReceivingAlgorithm', 'Receiving the algorithm'],
  ['ReceivingData', 'Receiving the data'],
  ['Running', 'Running the algorithm'],
  ['ConsumingResults', 'Result ready'],
  ['stop_requested', 'Stopping'],
]);
/** The types of events that begin no phase of a run: they end the run, or say more about the phase in which they come. */
const beginNothing = [
  ...['AlgorithmRun', 'Complete', 'Failed', 'Stopped', 'started', 'completed', 'failed', 'cancelled'],
  ...eventsOfKeys,
];

/**
 * Returns the phases of a run, each with its length.
 * @param events the events of the run that are read, oldest first
 * @param earlier the number of the run's events before `events`
 * @param now the time by the clock of the service, for a run that goes on
 */
export function phasesOf(
  run: Pick<Schemas['Run'], 'started_at' | 'ended_at' | 'status'>,
  events: readonly Pick<Schemas['Event'], 'event_type' | 'timestamp'>[],
  { earlier, now }: { earlier: number; now: number },
): Phase[] {
  const first = earlier > 0 ? 'Earlier' : 'Waiting for the CVM';
  const begun = [{ type: '', name: first, from: Date.parse(run.started_at) }];
  for (const { event_type: type, timestamp } of events) {
    const from = Date.parse(timestamp);
    if (beginNothing.includes(type) || begun.at(-1)?.type === type) continue;
    if (run.ended_at !== null && from > Date.parse(run.ended_at)) break; // late reports
    begun.push({ type, name: names.get(type) ?? eventText(type), from });
  }
  const end = run.ended_at === null ? Math.max(now, begun.at(-1)?.from ?? now) : Date.parse(run.ended_at);
  return begun.map(({ name, from }, index) => {
    const next = begun[index + 1];
    const state = next || run.status === 'completed' ? 'done' : run.ended_at === null ? 'active' : 'failed';
    return { name, from, to: next?.from ?? end, state };
  });
}
