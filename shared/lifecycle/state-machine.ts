import * as v from 'valibot';
import { runReference } from '../rows/run.ts';
import { endings, type EndedBy } from '../rows/ways-to-end.ts';

/** A step fails its task with this error if its run is over. The state machine catches it. */
export const runOverErrorName = 'RunIsOver';

export const lifecycleSteps = ['offer-run', 'await-cvm', 'deliver-stop', 'complete-stop', 'record-outcome'] as const;
export type LifecycleStep = (typeof lifecycleSteps)[number];

export const endingRun = v.object({ ...runReference.entries, ended_by: v.optional(v.picklist(endings)) });

export const waitingStep = v.object({ run: runReference, task_token: v.string() });
export type WaitingStep = v.InferOutput<typeof waitingStep>;

export interface RunTimes {
  /** Until the CVM accepts the run. */
  acceptInSeconds: number;
  /** Between two reports of the CVM. */
  silenceInSeconds: number;
  /** For the whole run after its acceptance. */
  runInSeconds: number;
  /** Until the CVM confirms a stop. */
  stopInSeconds: number;
}

/** Retries all failures. The end of a wait is none. */
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

/** About 20 minutes, because the outcome must be recorded. Then the sweep ends the run. */
const retryForLong = [{ ErrorEquals: ['States.ALL'], IntervalSeconds: 1, BackoffRate: 2, MaxAttempts: 25, MaxDelaySeconds: 60 }];

function waitForCvm(functionName: string) {
  return {
    Type: 'Task',
    Resource: 'arn:aws:states:::lambda:invoke.waitForTaskToken',
    Parameters: { FunctionName: functionName, Payload: { 'run.$': '$', 'task_token.$': '$$.Task.Token' } },
    ResultPath: null,
    Retry: retry,
  };
}

function call(functionName: string) {
  return {
    Type: 'Task',
    Resource: 'arn:aws:states:::lambda:invoke',
    Parameters: { FunctionName: functionName, 'Payload.$': '$' },
    ResultPath: null,
    Retry: retryForLong,
  };
}

function recordEnding(endedBy: EndedBy, next: string) {
  return { Type: 'Pass', Result: endedBy, ResultPath: '$.ended_by', Next: next };
}

function caught(errors: string[], next: string) {
  return { ErrorEquals: errors, ResultPath: null, Next: next };
}

/**
 * In JSONPath, for Step Functions and for the interpreter of one machine. It waits by task token, so a long run adds no history.
 * Input: a run reference and `action`.
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
      'No CVM accepted the run': recordEnding('not_accepted', 'Record the outcome'),
      'The CVM fell silent': recordEnding('silence', 'Record the outcome'),
      'The run took too long': recordEnding('run_timeout', 'Record the outcome'),
      'A step failed': recordEnding('failure', 'Record the outcome'),
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
