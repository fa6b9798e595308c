import { Duration } from 'aws-cdk-lib';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import { acknowledge } from '../acknowledge.ts';
import { nameIn, type Stage } from '../stages.ts';

/** The dead-letter queue of events whose function could not be called or failed in all attempts. */
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
  }
}
