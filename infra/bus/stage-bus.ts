import { createHash } from 'node:crypto';
import { Aws, CfnOutput, Duration, Stack } from 'aws-cdk-lib';
import { EventBus } from 'aws-cdk-lib/aws-events';
import { PolicyDocument, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { addLog, allow, DeadLetterQueue } from '../house.ts';
import { CfnPipe } from 'aws-cdk-lib/aws-pipes';
import { Construct } from 'constructs';
import { nameIn, type Stage } from '../stages/stage.ts';
import { busEventTemplate, journalFilter } from './bus-event.ts';

/** The field `source` of every event on the event bus, which the rules of subscribers match. */
export const eventSource = 'computation-management';
export const eventDetailType = 'Computation event';

/** The number of events that the pipe delivers to the event bus at once. EventBridge takes at most 10. */
const eventsPerDelivery = 10;

/**
 * The time for which the pipe to the event bus repeats a delivery. The table's stream keeps its records for 24 hours, so 12 are
 * left to read events that were not delivered.
 */
const longestRetry = Duration.hours(12);

/**
 * The event bus of a stage, and the pipe from the table's stream to the bus, which delivers each event at least once. Events that
 * the pipe cannot deliver for 12 hours go to a queue.
 */
export class StageBus extends Construct {
  /** @param streamArn of the table's stream, whose records contain the new images of items */
  constructor(scope: Construct, id: string, stage: Stage, streamArn: string) {
    super(scope, id);
    const bus = new EventBus(this, 'Bus', {
      eventBusName: nameIn(stage, 'events'),
      description: `The events of the computations of ${stage.name}`,
    });
    const undelivered = new DeadLetterQueue(this, 'Undelivered', undeliveredEventsName(stage));
    const name = pipeName(stage);
    const log = addLog(this, 'Log', stage, `/aws/vendedlogs/pipes/${name}`);
    const role = new Role(this, 'Role', {
      description: 'Reads the stream of the table and puts events on the bus',
      assumedBy: new ServicePrincipal('pipes.amazonaws.com', {
        conditions: { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } },
      }),
      inlinePolicies: {
        delivers: new PolicyDocument({
          statements: [
            allow(
              ['dynamodb:DescribeStream', 'dynamodb:GetRecords', 'dynamodb:GetShardIterator', 'dynamodb:ListStreams'],
              streamArn,
            ),
            ...(stage.dataKeyArn === undefined ? [] : [allow(['kms:Decrypt'], stage.dataKeyArn)]),
            allow(['events:PutEvents'], bus.eventBusArn),
            allow(['sqs:SendMessage'], undelivered.queueArn),
          ],
        }),
      },
    });
    new CfnPipe(this, 'Pipe', {
      name,
      description: `Puts the journal events of ${stage.name} on its bus`,
      roleArn: role.roleArn,
      source: streamArn,
      sourceParameters: {
        filterCriteria: { filters: [{ pattern: JSON.stringify(journalFilter) }] },
        dynamoDbStreamParameters: {
          startingPosition: 'TRIM_HORIZON', // so that no event is lost while the pipe is created or replaced
          batchSize: eventsPerDelivery,
          maximumRecordAgeInSeconds: longestRetry.toSeconds(),
          maximumRetryAttempts: -1,
          onPartialBatchItemFailure: 'AUTOMATIC_BISECT',
          deadLetterConfig: { arn: undelivered.queueArn },
        },
      },
      target: bus.eventBusArn,
      targetParameters: {
        inputTemplate: busEventTemplate,
        eventBridgeEventBusParameters: { source: eventSource, detailType: eventDetailType },
      },
      logConfiguration: { level: 'ERROR', cloudwatchLogsLogDestination: { logGroupArn: log.logGroupArn } },
    });
    this.output('EventBusName', bus.eventBusName);
    this.output('EventBusArn', bus.eventBusArn);
    this.output('TableStreamArn', streamArn);
    this.output('UndeliveredEventsUrl', undelivered.queueUrl);
  }

  private output(name: string, value: string): void {
    new CfnOutput(Stack.of(this), name, { value });
  }
}

/** Returns the name of the queue of events that the pipe could not deliver to the event bus. */
export function undeliveredEventsName(stage: Stage): string {
  return nameIn(stage, 'undelivered-events');
}

/**
 * Returns the name of the pipe to the event bus. The name depends on an existing table of the stage: another stream replaces the
 * pipe, and the new pipe needs another name.
 */
export function pipeName(stage: Stage): string {
  const adopted = stage.existing?.tableStreamArn;
  if (adopted === undefined) return nameIn(stage, 'events');
  return nameIn(stage, `events-${createHash('sha256').update(adopted).digest('hex').slice(0, 8)}`);
}
