import { ensure } from '../../demo/ensure.ts';
import type { RehearsalWorld } from './rehearsal-world.ts';
import type { RehearsedRun } from './rehearsed-run.ts';

export interface RehearsalCase {
  name: string;
  /** @returns what was seen. @throws Error if it is not what must be */
  play: (world: RehearsalWorld) => Promise<string>;
}

const wholeRun = [
  'ReceivingAlgorithm/InProgress',
  'ReceivingData/InProgress',
  'Running/Starting',
  'Running/InProgress',
  'Running/Completed',
  'ConsumingResults/Ready',
];

/** The events of a computation that agents sent or that were made up for, as `type/status`, and those that were made up for. */
async function agentEvents(world: RehearsalWorld, { computationId }: RehearsedRun) {
  const events = await world.service.events(computationId);
  const named = events.filter(({ event_type }) => /^[A-Z]/.test(event_type));
  const isInferred = ({ details }: { details: string }) => Buffer.from(details, 'base64').toString().includes('"inferred":true');
  const nameOf = ({ event_type, status }: { event_type: string; status: string }) => `${event_type}/${status}`;
  return { all: named.map(nameOf), inferred: named.filter(isInferred).map(nameOf) };
}

async function ensureOnce(world: RehearsalWorld, run: RehearsedRun, expected: string[]): Promise<string[]> {
  const { all, inferred } = await agentEvents(world, run);
  for (const name of expected) {
    const times = all.filter((each) => each === name).length;
    ensure(times === 1, `The journal has ${name} ${times} times: ${all.join(', ')}.`);
  }
  return inferred;
}

async function ensureEnd(world: RehearsalWorld, run: RehearsedRun, status: string): Promise<string> {
  const end = await world.service.untilOver(run.computationId);
  ensure(end.status === status, `The run ended as ${end.status}: ${end.reason}`);
  return `${end.status}: ${end.reason}`;
}

const complete = (inputs: Parameters<RehearsalWorld['computation']>[0]) => async (world: RehearsalWorld) => {
  const { id, cvm } = await world.cvm();
  const run = await world.computation(inputs);
  await run.start(id);
  await run.upload(cvm);
  const end = await ensureEnd(world, run, 'completed');
  await run.fetchResult(cvm);
  await world.service.untilEvent(run.computationId, 'Complete/Completed');
  const inferred = await ensureOnce(world, run, [...wholeRun, 'Complete/Completed']);
  ensure(inferred.length === 0, `Events were made up for: ${inferred.join(', ')}`);
  return `${end} The result is ${run.expected}. Each event came once.`;
};

export const cases: RehearsalCase[] = [{ name: 'complete', play: complete({}) }];
