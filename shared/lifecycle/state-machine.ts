import * as v from 'valibot';
import { type EndedBy, endings, runReference } from '../rows/run.ts';
import type { RunTimes } from '../runtime/environment.ts';

/** The error with which a step fails its task if its run is over. The state machine catches it. */
export const runOverErrorName = 'RunIsOver';

/** The names of the functions that the state machine calls. */
export const lifecycleSteps = ['offer-run', 'await-cvm', 'deliver-stop', 'complete-stop', 'record-outcome'] as const;
export type LifecycleStep = (typeof lifecycleSteps)[number];

/** The schema of the input of `record-outcome`. `ended_by` says which limit was reached, or that a step failed. */
export const endingRun = v.object({ ...runReference.entries, ended_by: v.optional(v.picklist(endings)) });

/** The schema of the input of a step that waits for a CVM: the run, and the token that completes the task. */
export const waitingStep = v.object({ run: runReference, task_token: v.string() });
export type WaitingStep = v.InferOutput<typeof waitingStep>;

/**
 * The retries of a step of the state machine that waits for a CVM: up to 6 after any failure. The end of a wait is no failure.
 */
const retry = [
  { ErrorEquals: [runOverErrorName, 'States.HeartbeatTimeout', 'States.Timeout'], MaxAttempts: 0 },
  {
    ErrorEquals: ['States.ALL'],
    IntervalSeconds: 1,
    BackoffRate: 2,
    MaxAttempts: 6,
    MaxDelaySeconds: 30,
    JitterStrategy: 'FULL',
  },
];

/**
 * The retries of a step of the state machine that records something: for about 20 minutes, because the outcome must be recorded.
 * Then the sweep ends the run.
 */
const retryForLong = [{ ErrorEquals: ['States.ALL'], IntervalSeconds: 1, BackoffRate: 2, MaxAttempts: 25, MaxDelaySeconds: 60 }];

/** Returns a state of the state machine that calls a function and waits until the task is completed by its token. */
function waitForCvm(FunctionName: string) {
  const Parameters = { FunctionName, Payload: { 'run.$': '$', 'task_token.$': '$$.Task.Token' } };
  const Resource = 'arn:aws:states:::lambda:invoke.waitForTaskToken';
  return { Type: 'Task', Resource, Parameters, ResultPath: null, Retry: retry };
}

/** Returns a state of the state machine that calls a function and goes on when it has returned. */
function call(FunctionName: string) {
  const Parameters = { FunctionName, 'Payload.$': '$' };
  return { Type: 'Task', Resource: 'arn:aws:states:::lambda:invoke', Parameters, ResultPath: null, Retry: retryForLong };
}

/** Returns a state of the state machine that notes why the run ends. */
function recordEnding(endedBy: EndedBy) {
  return { Type: 'Pass', Result: endedBy, ResultPath: '$.ended_by', Next: 'Record the outcome' };
}

/** Returns a rule of the state machine that goes to another state after one of the given errors. */
function caught(errors: string[], next: string) {
  return { ErrorEquals: errors, ResultPath: null, Next: next };
}

/**
 * Returns the definition of the state machine that takes a run to its end or stops it, in JSONPath. Step Functions and the
 * interpreter of a service on one machine run it. It waits by task token, so a long run adds no history. Input: a run reference
 * and `action`.
 */
export function stateMachineDefinition(functionName: (step: LifecycleStep) => string, times: RunTimes) {
  return {
    Comment: 'Takes a run to its end on a CVM, or stops it.',
    StartAt: 'Run or stop?',
    States: {
      'Run or stop?': {
        Type: 'Choice',
        Choices: [{ Variable: '$.action', StringEquals: 'stop', Next: 'Deliver the stop' }],
        Default: 'Offer the run to the CVM',
      },
      'Offer the run to the CVM': {
        ...waitForCvm(functionName('offer-run')),
        TimeoutSeconds: times.acceptInSeconds,
        Catch: [
          caught([runOverErrorName], 'Record the outcome'),
          caught(['States.Timeout'], 'No CVM accepted the run'),
          caught(['States.ALL'], 'A step failed'),
        ],
        Next: 'Wait for the CVM to finish',
      },
      'Wait for the CVM to finish': {
        ...waitForCvm(functionName('await-cvm')),
        HeartbeatSeconds: times.silenceInSeconds,
        TimeoutSeconds: times.runInSeconds,
        Catch: [
          caught([runOverErrorName], 'Record the outcome'),
          caught(['States.HeartbeatTimeout'], 'The CVM fell silent'),
          caught(['States.Timeout'], 'The run took too long'),
          caught(['States.ALL'], 'A step failed'),
        ],
        Next: 'Record the outcome',
      },
      'No CVM accepted the run': recordEnding('not_accepted'),
      'The CVM fell silent': recordEnding('silence'),
      'The run took too long': recordEnding('run_timeout'),
      'A step failed': recordEnding('failure'),
      'Record the outcome': { ...call(functionName('record-outcome')), End: true },

      'Deliver the stop': {
        ...waitForCvm(functionName('deliver-stop')),
        TimeoutSeconds: times.stopInSeconds,
        Catch: [caught([runOverErrorName], 'The run is over'), caught(['States.ALL'], 'Complete the stop')],
        Next: 'Complete the stop',
      },
      'Complete the stop': { ...call(functionName('complete-stop')), Next: 'The run is over' },
      'The run is over': { Type: 'Succeed' },
    },
  };
}
