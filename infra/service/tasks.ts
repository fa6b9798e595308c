import { Duration } from 'aws-cdk-lib';
import { type Function as LambdaFunction, EventSourceMapping, FilterCriteria, StartingPosition } from 'aws-cdk-lib/aws-lambda';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { EventField, Rule, RuleTargetInput, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction as FunctionTarget, type LambdaFunctionProps } from 'aws-cdk-lib/aws-events-targets';
import { logPrefix } from 'computation-management-counted-list/keys';
import { schedules, tasks, type Task, type TaskName } from '../../shared/tasks/tasks.ts';
import type { Issuer, Stage } from '../stages/stage.ts';
import type { Resources } from '../house/permissions.ts';
import { reservedFor } from './reserved-concurrency.ts';
import { ServiceFunction, type CodeOf } from './service-function.ts';
import { inlinePrefix, tokenPrefix, uploadPrefix } from '../../shared/rows/content-store.ts';
import { acknowledge } from '../house/acknowledge.ts';
import { listKeys, lists } from '../../shared/table/keys.ts';

export interface TasksProps {
  stage: Stage;
  issuer: Issuer;
  resources: Resources;
  codeOf: CodeOf;
  undelivered: IQueue;
}

/** The Lambda functions of the service's tasks, created from the task table. */
export class Tasks extends Construct {
  private readonly functions = new Map<TaskName, LambdaFunction>();

  constructor(scope: Construct, id: string, props: TasksProps) {
    super(scope, id);
    for (const task of tasks) this.functions.set(task.name, this.functionOf(task, props));
  }

  named(name: TaskName): LambdaFunction {
    const found = this.functions.get(name);
    if (!found) throw new TypeError(`There is no task ${name}.`);
    return found;
  }

  private functionOf(task: Task & { name: TaskName }, { undelivered, ...props }: TasksProps): LambdaFunction {
    const { trigger } = task;
    const isScheduled = typeof trigger === 'object';
    const { lambda } = new ServiceFunction(this, task.name, {
      ...props,
      uses: task.uses,
      timeout: Duration.seconds(task.timeoutInSeconds),
      reservedConcurrency: reservedFor(task, props.stage),
      isScheduled,
      ...(trigger === 'execution status' || trigger === 'upload' || trigger === 'token' ? { deadLetterQueue: undelivered } : {}),
    });
    return lambda;
  }
}

export interface TriggersProps {
  tasks: Tasks;
  /** The ARN of the table's stream. */
  streamArn: string;
  contentBucketName: string;
  stateMachineArn: string;
  undelivered: IQueue;
}

export class Triggers extends Construct {
  constructor(
    scope: Construct,
    id: string,
    { tasks, streamArn, contentBucketName, stateMachineArn, undelivered }: TriggersProps,
  ) {
    super(scope, id);
    const delivery: LambdaFunctionProps = { deadLetterQueue: undelivered, maxEventAge: Duration.hours(6), retryAttempts: 20 };

    for (const { name, everyMinutes } of schedules) {
      const rule = new Rule(this, name.replace('/', '-'), {
        description: `Calls ${name}`,
        schedule: Schedule.rate(Duration.minutes(everyMinutes)),
        targets: [new FunctionTarget(tasks.named(name), { maxEventAge: Duration.seconds(60), retryAttempts: 0 })],
      });
      acknowledge(rule, 'Serverless-EventBusDLQ', 'The next call of the schedule does its work.');
    }

    const mapping = new EventSourceMapping(this, 'TableStream', {
      target: tasks.named('maintenance/follow-table'),
      eventSourceArn: streamArn,
      startingPosition: StartingPosition.LATEST, // what came before is in the table
      batchSize: 1_000,
      maxBatchingWindow: Duration.seconds(1),
      filters: [FilterCriteria.filter(changesOfLists), FilterCriteria.filter(changesOfNames)],
      bisectBatchOnError: true,
      retryAttempts: 5,
      maxRecordAge: Duration.hours(1),
    });
    acknowledge(
      mapping,
      'Serverless-LambdaEventSourceMappingDestination',
      'The schedule folds the list of a record that is given up.',
    );

    const objects = (detailType: string, ...prefixes: string[]) => ({
      source: ['aws.s3'],
      detailType: [detailType],
      detail: { bucket: { name: [contentBucketName] }, object: { key: prefixes.map((prefix) => ({ prefix })) } },
    });
    new Rule(this, 'ContentArrived', {
      description: 'An asset was uploaded by a presigned link',
      eventPattern: objects('Object Created', uploadPrefix),
      targets: [new FunctionTarget(tasks.named('maintenance/receive-upload'), { ...delivery, event: itsKey })],
    });

    new Rule(this, 'ContentDeleted', {
      description: 'Content was deleted, by the service or by somebody else',
      eventPattern: objects('Object Deleted', inlinePrefix, uploadPrefix),
      targets: [
        new FunctionTarget(tasks.named('maintenance/receive-upload'), {
          ...delivery,
          event: RuleTargetInput.fromObject({ key: EventField.fromPath('$.detail.object.key'), deleted: true }),
        }),
      ],
    });

    new Rule(this, 'TokenArrived', {
      description: 'An attestation token of a CVM was stored',
      eventPattern: objects('Object Created', tokenPrefix),
      targets: [new FunctionTarget(tasks.named('attestation/verify-token'), { ...delivery, event: itsKey })],
    });

    new Rule(this, 'ExecutionEnded', {
      description: 'An execution of the run lifecycle ended without recording an outcome itself',
      eventPattern: {
        source: ['aws.states'],
        detailType: ['Step Functions Execution Status Change'],
        detail: { stateMachineArn: [stateMachineArn], status: ['FAILED', 'TIMED_OUT', 'ABORTED'] },
      },
      targets: [new FunctionTarget(tasks.named('lifecycle/execution-ended'), delivery)],
    });
  }
}

const itsKey = RuleTargetInput.fromObject({ key: EventField.fromPath('$.detail.object.key') });

const changesOfLists = {
  eventName: ['INSERT', 'MODIFY'],
  dynamodb: { Keys: { pk: { S: [{ prefix: logPrefix }] } } },
};

/**
 * The pattern of the records of the table's stream about computations, assets and CVMs, which users can find by name. A record
 * may also be of a change of something else than the name.
 */
const changesOfNames = {
  dynamodb: {
    Keys: {
      pk: { S: [lists.computations(''), lists.assets(''), lists.cvms('')].map(({ pk }) => ({ prefix: pk })) },
      sk: { S: [{ prefix: listKeys.prefixes.row }] },
    },
  },
};
