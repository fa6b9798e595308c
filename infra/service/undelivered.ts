import { Stack } from 'aws-cdk-lib';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import { DeadLetterQueue } from '../house/dead-letter-queue.ts';
import { nameIn, webhookRuleName, webhooksOf, type Stage } from '../stages/stage.ts';

/** Events whose function could not be called or failed in all attempts, and alarms that no webhook took. */
export class Undelivered extends DeadLetterQueue {
  constructor(scope: Construct, id: string, stage: Stage) {
    super(scope, id, nameIn(stage, 'undelivered'));
    for (const number of webhooksOf(stage).keys()) this.acceptFrom(webhookRuleName(stage, number + 1));
  }

  /** Lets a rule of another stack send to the queue. The CDK lets those of this stack. */
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
