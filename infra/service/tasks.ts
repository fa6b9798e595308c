import { Duration } from 'aws-cdk-lib';
import { type Function as LambdaFunction, EventSourceMapping, FilterCriteria, StartingPosition } from 'aws-cdk-lib/aws-lambda';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { EventField, type EventPattern, Rule, RuleTargetInput, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction as FunctionTarget } from 'aws-cdk-lib/aws-events-targets';
import { logPrefix } from 'computation-management-counted-list/keys';
import { schedules, tasks, type TaskName } from '../../shared/tasks/tasks.ts';
import { ServiceFunction, type CommonProps } from './service-function.ts';
import { inlinePrefix, tokenPrefix, uploadPrefix } from '../../shared/rows/content-store.ts';
import { acknowledge, type Resources } from '../house.ts';
import { historyKeys, listKeys, lists, positionKeys } from '../../shared/table/keys.ts';

/** The Lambda functions of the service's tasks, created from the task table. */
export class Tasks extends Construct {
  private readonly functions = new Map<TaskName, LambdaFunction>();

  constructor(scope: Construct, id: string, props: CommonProps, undelivered: IQueue) {
    super(scope, id);
    for (const task of tasks) this.functions.set(task.name, new ServiceFunction(this, task, props, undelivered).lambda);
  }

  named(name: TaskName): LambdaFunction {
    const found = this.functions.get(name);
    if (!found) throw new TypeError(`There is no task ${name}.`);
    return found;
  }
}

export class Triggers extends Construct {
  constructor(scope: Construct, id: string, tasks: Tasks, resources: Resources, undelivered: IQueue) {
    super(scope, id);
    const { streamArn, bucketName, stateMachineArn } = resources;
    for (const { name, everyMinutes } of schedules) {
      const rule = new Rule(this, name.replace('/', '-'), {
        description: `Calls ${name}`,
        schedule: Schedule.rate(Duration.minutes(everyMinutes)),
        targets: [new FunctionTarget(tasks.named(name), { maxEventAge: Duration.seconds(60), retryAttempts: 0 })],
      });
      acknowledge(rule, { 'Serverless-EventBusDLQ': 'The next call of the schedule does its work.' });
    }

    const mapping = new EventSourceMapping(this, 'TableStream', {
      target: tasks.named('maintenance/follow-table'),
      eventSourceArn: streamArn,
      startingPosition: StartingPosition.LATEST, // what came before is in the table
      batchSize: 1_000,
      maxBatchingWindow: Duration.seconds(1),
      filters: [changesOfLists, changesOfNames, newEntries, probes].map((pattern) => FilterCriteria.filter(pattern)),
      bisectBatchOnError: true,
      retryAttempts: 5,
      maxRecordAge: Duration.hours(24), // as long as a stream keeps them: nothing else tells what waits for users
    });
    acknowledge(mapping, {
      'Serverless-LambdaEventSourceMappingDestination':
        'The schedule folds the list of a record that is given up, and looks again at what waits for users.',
    });

    const onEvent = (id: string, description: string, eventPattern: EventPattern, name: TaskName, event?: RuleTargetInput) => {
      const delivery = { deadLetterQueue: undelivered, maxEventAge: Duration.hours(6), retryAttempts: 20 };
      const targets = [new FunctionTarget(tasks.named(name), { ...delivery, ...(event ? { event } : {}) })];
      new Rule(this, id, { description, eventPattern, targets });
    };
    const objects = (detailType: string, ...prefixes: string[]) => ({
      source: ['aws.s3'],
      detailType: [detailType],
      detail: { bucket: { name: [bucketName] }, object: { key: prefixes.map((prefix) => ({ prefix })) } },
    });
    const created = 'Object Created';
    const key = EventField.fromPath('$.detail.object.key');
    const ofNew = RuleTargetInput.fromObject({ key });
    const ofDeleted = RuleTargetInput.fromObject({ key, deleted: true });
    const upload = 'maintenance/receive-upload';
    const deletions = objects('Object Deleted', inlinePrefix, uploadPrefix);
    onEvent('ContentArrived', 'An asset was uploaded by a presigned link', objects(created, uploadPrefix), upload, ofNew);
    onEvent('ContentDeleted', 'Content was deleted, by the service or by somebody else', deletions, upload, ofDeleted);
    const tokens = objects(created, tokenPrefix);
    onEvent('TokenArrived', 'An attestation token of a CVM was stored', tokens, 'attestation/verify-token', ofNew);
    const ends = {
      source: ['aws.states'],
      detailType: ['Step Functions Execution Status Change'],
      detail: { stateMachineArn: [stateMachineArn], status: ['FAILED', 'TIMED_OUT', 'ABORTED'] },
    };
    const ended = 'An execution of the run lifecycle ended without recording an outcome itself';
    onEvent('ExecutionEnded', ended, ends, 'lifecycle/execution-ended');
  }
}

const changesOfLists = { eventName: ['INSERT', 'MODIFY'], dynamodb: { Keys: { pk: { S: [{ prefix: logPrefix }] } } } };

/** The pattern of the records of the table's stream about entries that wait to be integrated into the log. */
const newEntries = { eventName: ['INSERT'], dynamodb: { Keys: { pk: { S: [{ prefix: historyKeys.waitingPrefix }] } } } };
/** The pattern of the records that tell how far the stream is followed. */
const probes = { dynamodb: { Keys: { pk: { S: [{ prefix: positionKeys.probePrefix }] } } } };

/**
 * The pattern of the records of the table's stream about computations, assets and CVMs, which users can find by name, and about runs,
 * whose results wait for reviewers. A record may also be of a change of something else.
 */
const changesOfNames = {
  dynamodb: {
    Keys: {
      pk: { S: [lists.computations(''), lists.assets(''), lists.cvms(''), lists.runs('')].map(({ pk }) => ({ prefix: pk })) },
      sk: { S: [{ prefix: listKeys.prefixes.row }] },
    },
  },
};
