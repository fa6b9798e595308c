import { Duration, Stack } from 'aws-cdk-lib';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { acknowledge } from './acknowledge.ts';
import { undeliveredStaysInDays, nameIn, webhookRuleName, webhooksOf, type Stage } from '../stages/stage.ts';

/** A queue of messages that could not be delivered. An alarm must report every message. */
export class DeadLetterQueue extends Queue {
  constructor(scope: Construct, id: string, queueName: string) {
    super(scope, id, {
      queueName,
      retentionPeriod: Duration.days(undeliveredStaysInDays),
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
    });
    const reason = 'It is a dead-letter queue itself. An alarm reports every message.';
    acknowledge(this, 'AwsSolutions-SQS3', reason);
    acknowledge(this, 'Serverless-SQSRedrivePolicy', reason);
  }
}

/** The queue of events whose function could not be called or failed in all attempts, and of alarms that no webhook accepted. */
export class Undelivered extends DeadLetterQueue {
  constructor(scope: Construct, id: string, stage: Stage) {
    super(scope, id, nameIn(stage, 'undelivered'));
    for (const number of webhooksOf(stage).keys()) this.acceptFrom(webhookRuleName(stage, number + 1));
  }

  /** Lets an EventBridge rule of another stack send to the queue. The CDK itself lets rules of the queue's stack send. */
  private acceptFrom(ruleName: string): void {
    const rule = Stack.of(this).formatArn({ service: 'events', resource: 'rule', resourceName: ruleName });
    this.addToResourcePolicy(
      new PolicyStatement({
        principals: [new ServicePrincipal('events.amazonaws.com')],
        actions: ['sqs:SendMessage'],
        resources: [this.queueArn],
        conditions: { ArnEquals: { 'aws:SourceArn': rule } },
      }),
    );
  }
}
