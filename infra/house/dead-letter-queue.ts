import { Duration } from 'aws-cdk-lib';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import { acknowledge } from './acknowledge.ts';
import { undeliveredStaysInDays } from './lifetimes.ts';

/** A queue of what could not be delivered. An alarm must report every message. */
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
