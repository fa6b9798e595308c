import { Duration, Stack } from 'aws-cdk-lib';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import { acknowledge } from '../acknowledge.ts';
import { nameIn, webhookRuleName, webhooksOf, type Stage } from '../stage.ts';

/** The dead-letter queue of events whose function could not be called or failed in all attempts, and of alarms that no webhook took. */
export class Undelivered extends Queue {
  constructor(scope: Construct, id: string, stage: Stage) {
    super(scope, id, {
      queueName: nameIn(stage, 'undelivered'),
      retentionPeriod: Duration.days(14),
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
    });
    const reason = 'It is a dead-letter queue itself. An alarm reports every message.';
    acknowledge(this, 'AwsSolutions-SQS3', reason);
    acknowledge(this, 'Serverless-SQSRedrivePolicy', reason);
    for (const number of webhooksOf(stage).keys()) this.acceptFrom(webhookRuleName(stage, number + 1));
  }

  /** Rules of this stack get the permission by themselves. */
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
