import { describe, expect, it } from 'vitest';
import { phasesOf } from '../../../../packages/console/runs/phases.ts';

const at = (seconds: number) => new Date(Date.UTC(2025, 6, 17, 8, 0, seconds)).toISOString();
const event = (event_type: string, seconds: number) => ({ event_type, timestamp: at(seconds) });
const shown = (...given: Parameters<typeof phasesOf>) =>
  phasesOf(...given).map(({ name, from, to, state }) => `${name} ${(to - from) / 1_000} s ${state}`);
const ended = (status: 'completed' | 'failed') => ({ status, started_at: at(0), ended_at: at(10) });

describe('the phases of a run', () => {
  const events = [
    event('started', 0),
    event('ReceivingAlgorithm', 1),
    event('key_released', 2),
    event('key_refused', 3),
    event('Running', 4),
    event('Running', 5),
    event('AlgorithmRun', 6),
    event('Failed', 10),
    event('failed', 10),
    event('ReceivingData', 12), // late
  ];

  it('begin with their first event, and the one in which the run failed is the last', () => {
    expect(shown(ended('failed'), events, { earlier: 0, now: 0 })).toEqual([
      'Waiting for the CVM 1 s done',
      'Receiving the algorithm 3 s done',
      'Running the algorithm 6 s failed',
    ]);
  });

  it('go on until now while the run is active, and say that earlier events are not loaded', () => {
    const run = { status: 'running', started_at: at(0), ended_at: null } as const;
    const now = Date.parse(at(9));
    expect(shown(run, [event('Running', 4)], { earlier: 300, now })).toEqual([
      'Earlier 4 s done',
      'Running the algorithm 5 s active',
    ]);
    expect(shown(run, [], { earlier: 0, now })).toEqual(['Waiting for the CVM 9 s active']);
  });

  it.each(['constructor', '__proto__', 'OwnType'])('take the agent’s own type %s', (type) => {
    const [, phase] = phasesOf(ended('completed'), [event(type, 4)], { earlier: 0, now: 0 });
    expect(phase).toMatchObject({ state: 'done', name: expect.any(String) as string });
  });
});
