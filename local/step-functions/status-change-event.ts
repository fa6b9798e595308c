import { randomUUID } from 'node:crypto';
import type { EventBridgeEvent } from 'aws-lambda';
import type { Execution } from './execution.ts';

/** The detail of EventBridge's event about an execution. Times are Unix milliseconds. */
export interface ExecutionStatusChange {
  executionArn: string;
  stateMachineArn: string;
  name: string;
  status: Execution['status'];
  startDate: number;
  stopDate: number | null;
  input: string | null;
  output: string | null;
  error: string | null;
  cause: string | null;
}

export type ExecutionStatusChangeEvent = EventBridgeEvent<'Step Functions Execution Status Change', ExecutionStatusChange>;

/** Builds the event that EventBridge delivers when the status of an execution has changed. */
export function statusChangeEvent(execution: Execution): ExecutionStatusChangeEvent {
  const [, , , region = '', account = ''] = execution.stateMachineArn.split(':');
  const { stopDate, output, error, cause, startDate, ...kept } = execution;
  return {
    version: '0',
    id: randomUUID(),
    'detail-type': 'Step Functions Execution Status Change',
    source: 'aws.states',
    account,
    time: (stopDate ?? startDate).toISOString(),
    region,
    resources: [execution.executionArn],
    detail: {
      ...kept,
      startDate: startDate.getTime(),
      stopDate: stopDate?.getTime() ?? null,
      output: output ?? null,
      error: error ?? null,
      cause: cause ?? null,
    },
  };
}
