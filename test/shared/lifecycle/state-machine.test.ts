import { StateMachine, type StateMachineDefinition } from 'aws-local-stepfunctions';
import { describe, expect, it } from 'vitest';
import { interpretable } from '../../../local/step-functions/tasks.ts';
import { runOverErrorName, stateMachineDefinition } from '../../../shared/lifecycle/state-machine.ts';

interface Retrier {
  ErrorEquals: string[];
  IntervalSeconds?: number;
  BackoffRate?: number;
  MaxAttempts?: number;
  MaxDelaySeconds?: number;
}
interface State {
  Type: string;
  Next?: string;
  End?: boolean;
  Default?: string;
  Result?: string;
  ResultPath?: string | null;
  Choices?: { Next: string }[];
  Catch?: { ErrorEquals: string[]; Next: string }[];
  Retry?: Retrier[];
  Parameters?: { FunctionName: string };
  TimeoutSeconds?: number;
  HeartbeatSeconds?: number;
}

const times = { acceptInSeconds: 1, silenceInSeconds: 2, runInSeconds: 3, stopInSeconds: 4 };
const definition = stateMachineDefinition((step) => step, times);
const states = definition.States as Record<string, State>;

it('is valid Amazon States Language, as AWS and the interpreter of one machine get it', () => {
  for (const given of [definition as unknown as StateMachineDefinition, interpretable(definition)]) {
    expect(() => new StateMachine(given)).not.toThrow();
  }
  const broken = { ...definition, StartAt: 'Missing' } as unknown as StateMachineDefinition;
  expect(() => new StateMachine(broken)).toThrow('invalid');
});

/** Lists the results and functions of the states from this one to the end, when nothing else goes wrong. */
function wayFrom(name: string): string[] {
  const state = states[name];
  if (!state) throw new Error(`There is no state ${name}.`);
  const here = state.Result ?? state.Parameters?.FunctionName;
  return [...(here ? [here] : []), ...(state.Next ? wayFrom(state.Next) : [])];
}

/** Lists the results and functions of the states to the end after the function of a state has failed with this error for good. */
function wayAfter(step: string, error: string): string[] {
  const state = Object.values(states).find(({ Parameters }) => Parameters?.FunctionName === step);
  const caught = state?.Catch?.find(({ ErrorEquals }) => ErrorEquals.includes(error) || ErrorEquals.includes('States.ALL'));
  if (!caught) throw new Error(`${step} has no way to go on after ${error}.`);
  return wayFrom(caught.Next);
}

function minutesOfRetries({ IntervalSeconds = 1, BackoffRate = 2, MaxAttempts = 3, MaxDelaySeconds = Infinity }: Retrier) {
  const pauses = Array.from({ length: MaxAttempts }, (_, index) =>
    Math.min(MaxDelaySeconds, IntervalSeconds * BackoffRate ** index),
  );
  return pauses.reduce((sum, pause) => sum + pause, 0) / 60;
}

describe('stateMachineDefinition', () => {
  it('takes a run from its offer to its end, and a stop from its delivery', () => {
    expect(wayFrom(states[definition.StartAt]?.Default ?? '')).toEqual(['offer-run', 'await-cvm', 'record-outcome']);
    expect(states[definition.StartAt]?.Choices).toEqual([
      { Variable: '$.action', StringEquals: 'stop', Next: expect.any(String) as string },
    ]);
    expect(wayFrom(states[definition.StartAt]?.Choices?.[0]?.Next ?? '')).toEqual(['deliver-stop', 'complete-stop']);
  });

  it.each([
    ['offer-run', runOverErrorName, ['record-outcome']],
    ['offer-run', 'States.Timeout', ['not_accepted', 'record-outcome']],
    ['offer-run', 'Lambda.Unknown', ['failure', 'record-outcome']],
    ['await-cvm', runOverErrorName, ['record-outcome']],
    ['await-cvm', 'States.HeartbeatTimeout', ['silence', 'record-outcome']],
    ['await-cvm', 'States.Timeout', ['run_timeout', 'record-outcome']],
    ['await-cvm', 'Lambda.Unknown', ['failure', 'record-outcome']],
    ['deliver-stop', runOverErrorName, []],
    ['deliver-stop', 'States.Timeout', ['complete-stop']],
    ['deliver-stop', 'Lambda.Unknown', ['complete-stop']],
  ])('goes on after %s failed with %s by %j', (step, error, way) => {
    expect(wayAfter(step, error)).toEqual(way);
  });

  it('keeps the run as the input of every step, and adds how the run ended', () => {
    const paths = Object.values(states).map(({ Type, ResultPath }) => [Type, ResultPath]);
    expect(paths.filter(([type]) => type === 'Task').map(([, path]) => path)).toEqual([null, null, null, null, null]);
    expect(new Set(paths.filter(([type]) => type === 'Pass').map(([, path]) => path))).toEqual(new Set(['$.ended_by']));
    expect(Object.values(states).flatMap((state) => state.Catch ?? [])).not.toContainEqual(
      expect.not.objectContaining({ ResultPath: null }),
    );
  });

  it('waits as long as the stage says', () => {
    const limits = Object.values(states).flatMap(({ Parameters, TimeoutSeconds, HeartbeatSeconds }) =>
      TimeoutSeconds === undefined ? [] : [[Parameters?.FunctionName, TimeoutSeconds, HeartbeatSeconds]],
    );
    expect(limits).toEqual([
      ['offer-run', 1, undefined],
      ['await-cvm', 3, 2],
      ['deliver-stop', 4, undefined],
    ]);
  });

  it.each(['offer-run', 'await-cvm', 'deliver-stop'])(
    'never repeats %s because its wait is over, and repeats any other failure',
    (step) => {
      const retriers = Object.values(states).find(({ Parameters }) => Parameters?.FunctionName === step)?.Retry;
      expect(retriers).toMatchObject([
        { ErrorEquals: [runOverErrorName, 'States.HeartbeatTimeout', 'States.Timeout'], MaxAttempts: 0 },
        { ErrorEquals: ['States.ALL'], IntervalSeconds: 1, BackoffRate: 2, MaxAttempts: 6, MaxDelaySeconds: 30 },
      ]);
    },
  );

  it.each(['record-outcome', 'complete-stop'])('repeats %s for about 20 minutes, whatever the failure', (step) => {
    const retriers = Object.values(states).find(({ Parameters }) => Parameters?.FunctionName === step)?.Retry ?? [];
    expect(retriers).toMatchObject([{ ErrorEquals: ['States.ALL'], IntervalSeconds: 1, BackoffRate: 2 }]);
    expect(Math.round(retriers.map(minutesOfRetries)[0] ?? 0)).toBe(20);
  });
});
