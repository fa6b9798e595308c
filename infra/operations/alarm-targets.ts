import { Stack, Duration, SecretValue } from 'aws-cdk-lib';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Topic, type ITopic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import {
  ApiDestination,
  Authorization,
  Connection,
  EventField,
  HttpMethod,
  Rule,
  RuleTargetInput,
  type IApiDestination,
} from 'aws-cdk-lib/aws-events';
import { ApiDestination as ApiDestinationTarget } from 'aws-cdk-lib/aws-events-targets';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { acknowledge } from '../house/acknowledge.ts';
import { nameIn, type AlarmTarget, type Stage, webhookRuleName, type Webhook } from '../stages/stage.ts';

export interface AlarmTopics {
  /** The topic that the stage creates for its alarms. The e-mail addresses of the stage are subscribed to the topic. */
  own: ITopic;
  existing: ITopic[];
}

/**
 * Adds the topic that the stage creates for its alarms, subscribes the e-mail addresses, and finds the existing topics among the
 * targets.
 */
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

/**
 * Returns a statement that lets the alarms of the account publish to a topic. A topic with a policy, such as one that enforces
 * TLS, loses this default permission.
 */
function publishedByAlarmsOf(account: string, topicArn: string): PolicyStatement {
  return new PolicyStatement({
    sid: 'AllowAlarms',
    principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
    actions: ['sns:Publish'],
    resources: [topicArn],
    conditions: { StringEquals: { 'aws:SourceAccount': account } },
  });
}

export interface AlarmWebhookProps {
  stage: Stage;
  webhook: Webhook;
  /** The number of the webhook, which distinguishes the webhooks of a stage: 1, 2, ... */
  number: number;
}

/**
 * A rule that posts the start and end of every alarm of the stage to a URL. docs/deploy.md#alarms says which failed requests
 * EventBridge repeats.
 */
export class AlarmWebhook extends Construct {
  constructor(scope: Construct, id: string, { stage, webhook, number }: AlarmWebhookProps) {
    super(scope, id);
    const connection = new Connection(this, 'Connection', {
      description: `The key of ${webhook.url}`,
      authorization: Authorization.apiKey(webhook.header, SecretValue.secretsManager(webhook.secretName)),
    });
    const destination = new ApiDestination(this, 'Destination', {
      connection,
      endpoint: webhook.url,
      httpMethod: HttpMethod.POST,
      rateLimitPerSecond: 5,
    });
    new Rule(this, 'Rule', {
      ruleName: webhookRuleName(stage, number),
      description: `Posts alarms of ${stage.name} to ${webhook.url}`,
      eventPattern: {
        source: ['aws.cloudwatch'],
        detailType: ['CloudWatch Alarm State Change'],
        detail: {
          alarmName: [{ prefix: nameIn(stage, '') }],
          // A new alarm becomes OK without ever having started.
          $or: [{ state: { value: ['ALARM'] } }, { state: { value: ['OK'] }, previousState: { value: ['ALARM'] } }],
        },
      },
      targets: [
        new ApiDestinationTarget(destination as IApiDestination, {
          event: message(stage),
          deadLetterQueue: Queue.fromQueueArn(this, 'Undelivered', undeliveredArn(this, stage)),
          maxEventAge: Duration.hours(1),
          retryAttempts: 60,
        }),
      ],
    });
  }
}

function undeliveredArn(scope: Construct, stage: Stage): string {
  return Stack.of(scope).formatArn({ service: 'sqs', resource: nameIn(stage, 'undelivered') });
}

function message(stage: Stage): RuleTargetInput {
  const alarm = EventField.fromPath('$.detail.alarmName');
  const state = EventField.fromPath('$.detail.state.value');
  const description = EventField.fromPath('$.detail.configuration.description');
  return RuleTargetInput.fromObject({
    text: `${state}: ${alarm}. ${description}`,
    alarm,
    state,
    reason: EventField.fromPath('$.detail.state.reason'),
    time: EventField.fromPath('$.time'),
    stage: stage.name,
  });
}
