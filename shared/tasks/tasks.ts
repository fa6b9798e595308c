import { adds, changes, foldsLists, type Uses, writesLog } from '../runtime/uses.ts';

/** The event that makes AWS call a task: an event of AWS, or a schedule. */
export type Trigger = 'state machine' | 'execution status' | 'upload' | 'token' | 'table stream' | { everyMinutes: number };

/**
 * The declaration of a function that AWS calls without a request of a user. CDK and its tests are derived from the table of
 * tasks.
 */
export interface Task {
  /** The name of the task. The file in functions/, the test, the construct and the log dimension have the same name. */
  name: string;
  trigger: Trigger;
  uses: Uses;
  times?: readonly ('ACCEPT_TIMEOUT_SECONDS' | 'STOP_TIMEOUT_SECONDS')[];
  timeoutInSeconds: number;
  /** `ticket` for a task whose failure may wait for days. Default: `page`. */
  severity?: 'ticket';
  /** The sentence in the alarm about a task that says how users are affected while it fails. */
  impact: string;
}

/** All functions of the service that AWS calls without a request of a user, such as steps of a run and scheduled tasks. */
export const tasks = [
  {
    name: 'attestation/verify-token',
    trigger: 'token',
    uses: {
      table: ['GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'ConditionCheckItem'],
      content: ['GetObject'],
      bucket: ['ListBucket'],
      stateMachine: ['SendTaskSuccess'],
    },
    timeoutInSeconds: 60,
    impact: 'CVMs stay without attestation, so computations with an attestation policy cannot be run.',
  },
  {
    name: 'lifecycle/offer-run',
    trigger: 'state machine',
    uses: { table: ['BatchGetItem', 'PutItem', 'UpdateItem'], stateMachine: ['SendTaskSuccess', 'SendTaskFailure'] },
    times: ['ACCEPT_TIMEOUT_SECONDS'],
    timeoutInSeconds: 30,
    impact: 'CVMs are not offered new runs, so these runs fail.',
  },
  {
    name: 'lifecycle/await-cvm',
    trigger: 'state machine',
    uses: { table: ['GetItem', 'UpdateItem'], stateMachine: ['SendTaskSuccess', 'SendTaskFailure'] },
    timeoutInSeconds: 30,
    impact: 'Runs fail after their CVM has accepted them.',
  },
  {
    name: 'lifecycle/deliver-stop',
    trigger: 'state machine',
    uses: { table: ['GetItem', 'PutItem', 'UpdateItem', 'DeleteItem'], stateMachine: ['SendTaskSuccess', 'SendTaskFailure'] },
    times: ['STOP_TIMEOUT_SECONDS'],
    timeoutInSeconds: 30,
    impact: 'CVMs get no stop commands. Stopped runs end as cancelled while their CVM still computes.',
  },
  {
    name: 'lifecycle/complete-stop',
    trigger: 'state machine',
    uses: { table: changes, stateMachine: ['SendTaskSuccess'] },
    timeoutInSeconds: 30,
    impact: 'Stopped runs stay in stopping.',
  },
  {
    name: 'lifecycle/record-outcome',
    trigger: 'state machine',
    uses: { table: changes, stateMachine: ['SendTaskSuccess'] },
    timeoutInSeconds: 30,
    impact: 'Finished runs still look active, and their CVMs stay busy.',
  },
  {
    name: 'lifecycle/execution-ended',
    trigger: 'execution status',
    uses: { table: changes, stateMachine: ['SendTaskSuccess'] },
    timeoutInSeconds: 30,
    impact: 'Runs whose execution failed look active until the sweep ends them.',
  },
  {
    name: 'lifecycle/sweep-runs',
    trigger: { everyMinutes: 1 },
    uses: { table: changes, stateMachine: ['StartExecution', 'DescribeExecution', 'SendTaskSuccess'] },
    timeoutInSeconds: 300,
    impact: 'Orphaned runs look active, and their CVMs stay busy.',
  },
  {
    name: 'maintenance/purge',
    trigger: { everyMinutes: 1 },
    uses: { table: foldsLists, content: ['DeleteObject'] },
    timeoutInSeconds: 900,
    severity: 'ticket',
    impact: 'No immediate effect. Deleted data is still stored.',
  },
  {
    name: 'maintenance/collect-content',
    trigger: { everyMinutes: 15 },
    uses: {
      table: ['GetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem', 'ConditionCheckItem'],
      content: ['GetObject', 'DeleteObject'],
      bucket: ['ListBucket'],
    },
    timeoutInSeconds: 900,
    severity: 'ticket',
    impact: 'No immediate effect. Replaced and abandoned content is still stored.',
  },
  {
    name: 'maintenance/follow-table',
    trigger: 'table stream',
    uses: { table: foldsLists, stream: ['DescribeStream', 'GetRecords', 'GetShardIterator', 'ListStreams'], ...writesLog },
    timeoutInSeconds: 60,
    severity: 'ticket',
    impact:
      'Users do not learn of what newly waits for them. Evidence of runs that end is available a minute later. Lists and statistics are read ' +
      'more slowly. They are still exact.',
  },
  {
    name: 'maintenance/fold-lists',
    trigger: { everyMinutes: 1 },
    uses: { table: foldsLists },
    timeoutInSeconds: 300,
    severity: 'ticket',
    impact: 'Approvals that expire are not asked for again. Lists with few changes are read more slowly.',
  },
  {
    name: 'maintenance/integrate-log',
    trigger: { everyMinutes: 1 },
    uses: { table: ['GetItem', 'BatchGetItem', 'Query', 'UpdateItem', 'BatchWriteItem'], ...writesLog },
    timeoutInSeconds: 60,
    severity: 'ticket',
    impact: 'Runs that end have no evidence yet.',
  },
  {
    name: 'maintenance/send-mails',
    trigger: { everyMinutes: 1 },
    uses: {
      table: ['GetItem', 'BatchGetItem', 'Query', 'PutItem', 'DeleteItem'],
      sealingKey: ['GenerateDataKey', 'Decrypt'],
      seals: 'secret',
      mail: ['SendEmail'],
    },
    timeoutInSeconds: 120,
    severity: 'ticket',
    impact: 'Users get no mail about what waits for them. It is sent later.',
  },
  {
    name: 'maintenance/receive-upload',
    trigger: 'upload',
    uses: { table: [...adds, 'ConditionCheckItem'], content: ['GetObject', 'DeleteObject'], bucket: ['ListBucket'] },
    timeoutInSeconds: 900,
    impact: 'Uploaded assets stay pending, so computations cannot be run.',
  },
] as const satisfies readonly Task[];

export type TaskName = (typeof tasks)[number]['name'];

type ScheduledTask = Extract<(typeof tasks)[number], { trigger: { everyMinutes: number } }>;

/** The tasks that run on a schedule, with their interval in minutes. AWS and the one-machine stack call them. */
export const schedules = tasks
  .filter((task): task is ScheduledTask => typeof task.trigger === 'object')
  .map(({ name, trigger }) => ({ name, everyMinutes: trigger.everyMinutes }));
