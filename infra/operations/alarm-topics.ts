import type { Stack } from 'aws-cdk-lib';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Topic, type ITopic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { acknowledge } from '../house/acknowledge.ts';
import { nameIn, type AlarmTarget, type Stage } from '../stages/stage.ts';

export interface AlarmTopics {
  /** The stage's own topic. The addresses of the stage are subscribed to it. */
  own: ITopic;
  existing: ITopic[];
}

/** Adds the stage's own topic, and finds the existing ones. */
export function addAlarmTopics(stack: Stack, stage: Stage, targets: readonly AlarmTarget[]): AlarmTopics {
  const own = new Topic(stack, 'Topic', { topicName: nameIn(stage, 'alarms'), enforceSSL: true });
  own.addToResourcePolicy(publishedByAlarmsOf(stack.account, own.topicArn));
  const existing: ITopic[] = [];
  for (const target of targets) {
    if ('email' in target) addEmail(own, target.email);
    if ('topicArn' in target) {
      existing.push(Topic.fromTopicArn(stack, `Topic${existing.length + 1}`, target.topicArn));
    }
  }
  return { own, existing };
}

function addEmail(topic: Topic, address: string): void {
  const subscription = topic.addSubscription(new EmailSubscription(address));
  acknowledge(
    subscription,
    'Serverless-SNSRedrivePolicy',
    'An undelivered email is useless later. The alarm itself stays visible.',
  );
}

/** Lets the account's alarms publish. Topics with a policy, such as the one that enforces TLS, lose this default permission. */
function publishedByAlarmsOf(account: string, topicArn: string): PolicyStatement {
  return new PolicyStatement({
    sid: 'AllowAlarms',
    principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
    actions: ['sns:Publish'],
    resources: [topicArn],
    conditions: { StringEquals: { 'aws:SourceAccount': account } },
  });
}
