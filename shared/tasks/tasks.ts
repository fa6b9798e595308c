import type { Uses } from '../uses.ts';

/** Who calls a function that no route calls. */
export type Trigger = 'state machine' | 'execution status' | 'upload' | { everyMinutes: number };

/** One row per function that AWS calls itself: what CDK and its tests derive from. */
export interface Task {
  /** File below functions/, test, construct id and log dimension. */
  name: string;
  trigger: Trigger;
  uses: Uses;
  /** The run times of the stage that it reads. */
  times?: readonly ('ACCEPT_TIMEOUT_SECONDS' | 'STOP_TIMEOUT_SECONDS')[];
  timeoutInSeconds: number;
  /** What a user loses while it fails; the alarm says it. */
  loses: string;
}

const endRun = ['GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'] as const;

export const tasks = [
  {
    name: 'lifecycle/offer-run',
    trigger: 'state machine',
    uses: { table: ['BatchGetItem', 'PutItem', 'UpdateItem'], stateMachine: ['SendTaskSuccess', 'SendTaskFailure'] },
    times: ['ACCEPT_TIMEOUT_SECONDS'],
    timeoutInSeconds: 30,
    loses: 'Runs are not offered to their CVMs and fail.',
  },
  {
    name: 'lifecycle/await-cvm',
    trigger: 'state machine',
    uses: { table: ['BatchGetItem', 'UpdateItem'], stateMachine: ['SendTaskSuccess', 'SendTaskFailure'] },
    timeoutInSeconds: 30,
    loses: 'Runs that a CVM has accepted fail.',
  },
  {
    name: 'lifecycle/deliver-stop',
    trigger: 'state machine',
    uses: {
      table: ['BatchGetItem', 'PutItem', 'UpdateItem', 'DeleteItem'],
      stateMachine: ['SendTaskSuccess', 'SendTaskFailure'],
    },
    times: ['STOP_TIMEOUT_SECONDS'],
    timeoutInSeconds: 30,
    loses: 'CVMs are not told to stop: runs end as cancelled while the CVM still computes.',
  },
  {
    name: 'lifecycle/complete-stop',
    trigger: 'state machine',
    uses: { table: endRun, stateMachine: ['SendTaskSuccess'] },
    timeoutInSeconds: 30,
    loses: 'Runs stay in stopping.',
  },
  {
    name: 'lifecycle/record-outcome',
    trigger: 'state machine',
    uses: { table: endRun, stateMachine: ['SendTaskSuccess'] },
    timeoutInSeconds: 30,
    loses: 'Runs that are over still look active, and their CVMs stay taken.',
  },
  {
    name: 'lifecycle/execution-ended',
    trigger: 'execution status',
    uses: { table: endRun, stateMachine: ['SendTaskSuccess'] },
    timeoutInSeconds: 30,
    loses: 'Runs whose execution died look active until the sweep ends them.',
  },
  {
    name: 'lifecycle/sweep-runs',
    trigger: { everyMinutes: 1 },
    uses: { table: endRun, stateMachine: ['StartExecution', 'DescribeExecution', 'SendTaskSuccess'] },
    timeoutInSeconds: 300,
    loses: 'Orphaned runs look active, and their CVMs stay taken.',
  },
  {
    name: 'maintenance/purge',
    trigger: { everyMinutes: 1 },
    uses: { table: [...endRun, 'BatchWriteItem'], content: ['DeleteObject'] },
    timeoutInSeconds: 900,
    loses: 'Nothing at once; what was deleted is still stored.',
  },
  {
    name: 'maintenance/collect-content',
    trigger: { everyMinutes: 15 },
    uses: {
      table: ['GetItem', 'Query', 'UpdateItem', 'DeleteItem'],
      content: ['GetObject', 'DeleteObject'],
      bucket: ['ListBucket'],
    },
    timeoutInSeconds: 900,
    loses: 'Nothing at once; replaced and abandoned content is still stored.',
  },
  {
    name: 'maintenance/migrate',
    trigger: { everyMinutes: 5 },
    uses: { table: ['Query', 'Scan', 'PutItem', 'UpdateItem'] },
    timeoutInSeconds: 60,
    loses: 'Nothing at once; stored items keep the form of an earlier version, private keys of ended runs among them.',
  },
  {
    name: 'maintenance/receive-upload',
    trigger: 'upload',
    uses: { table: ['GetItem', 'UpdateItem'], content: ['GetObject', 'DeleteObject'], bucket: ['ListBucket'] },
    timeoutInSeconds: 900,
    loses: 'Uploaded assets stay pending, so runs stay incomplete.',
  },
] as const satisfies readonly Task[];

export type TaskName = (typeof tasks)[number]['name'];
