import { Rule } from 'aws-cdk-lib/aws-events';
import { SqsQueue } from 'aws-cdk-lib/aws-events-targets';
import { Construct } from 'constructs';
import { acknowledge } from '../house/acknowledge.ts';
import { DeadLetterQueue } from '../house/dead-letter-queue.ts';
import { nameIn, type Stage } from '../stages/stage.ts';

/**
 * Keeps who has disabled a KMS key of the stage, or asked for its deletion, for 14 days. Needs a trail of CloudTrail for
 * management events in the account.
 */
export class KeyChanges extends Construct {
  constructor(scope: Construct, id: string, stage: Stage, arns: readonly (string | undefined)[]) {
    super(scope, id);
    const queue = new DeadLetterQueue(this, 'Queue', keyChangesName(stage));
    const rule = new Rule(this, 'Rule', {
      description: 'A key of the stage was disabled, or is to be deleted',
      eventPattern: {
        source: ['aws.kms'],
        detailType: ['AWS API Call via CloudTrail'],
        detail: { eventName: ['DisableKey', 'ScheduleKeyDeletion'], resources: { ARN: arns.filter((arn) => arn !== undefined) } },
      },
      targets: [new SqsQueue(queue)],
    });
    acknowledge(
      rule,
      'Serverless-EventBusDLQ',
      'Its target is a queue. Calls that need the key fail as well, and have their alarms.',
    );
  }
}

export function keyChangesName(stage: Stage): string {
  return nameIn(stage, 'key-changes');
}
