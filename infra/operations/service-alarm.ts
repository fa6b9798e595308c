import { Stack, Duration, SecretValue } from 'aws-cdk-lib';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { FilterOrPolicy, SubscriptionFilter, Topic, type ITopic } from 'aws-cdk-lib/aws-sns';
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
import { acknowledge } from '../house.ts';
import { nameIn, type AlarmTarget, type Severity, type Stage, type webhooksOf, webhookRuleName } from '../stages/stage.ts';
import { Alarm, ComparisonOperator, TreatMissingData, type IMetric } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';

/** A topic that alarms are published to: those of one severity, or all. */
export interface AlarmTopic {
  topic: ITopic;
  for?: Severity | undefined;
}

/**
 * Returns the topic that the stage creates for its alarms, with the e-mail addresses as subscribers, and the existing topics among
 * the targets.
 */
export function addAlarmTopics(stack: Stack, stage: Stage, targets: readonly AlarmTarget[]): AlarmTopic[] {
  const own = new Topic(stack, 'Topic', { topicName: nameIn(stage, 'alarms'), enforceSSL: true });
  own.addToResourcePolicy(publishedByAlarmsOf(stack.account, own.topicArn));
  const topics: AlarmTopic[] = [{ topic: own }];
  for (const target of targets) {
    if ('email' in target) addEmail(own, target.email, target.for);
    if ('topicArn' in target)
      topics.push({ topic: Topic.fromTopicArn(stack, `Topic${topics.length}`, target.topicArn), for: target.for });
  }
  return topics;
}

function addEmail(topic: Topic, address: string, severity: Severity | undefined): void {
  const ofSeverity = severity && {
    AlarmDescription: FilterOrPolicy.filter(SubscriptionFilter.stringFilter({ matchPrefixes: [`${severity}: `] })),
  };
  const subscription = topic.addSubscription(
    new EmailSubscription(address, ofSeverity && { filterPolicyWithMessageBody: ofSeverity }),
  );
  acknowledge(subscription, {
    'Serverless-SNSRedrivePolicy': 'An undelivered email is useless later. The alarm itself stays visible.',
  });
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

/**
 * The rules that post the start and end of the alarms of a stage to a URL, one for each severity. docs/deploy.md#alarms says which failed requests
 * EventBridge repeats.
 */
export class AlarmWebhook extends Construct {
  /** @param number of the webhook, which distinguishes the webhooks of a stage: 1, 2, ... */
  constructor(scope: Construct, stage: Stage, webhook: ReturnType<typeof webhooksOf>[number], number: number) {
    super(scope, `Webhook${number}`);
    const connection = new Connection(this, 'Connection', {
      description: `The key of ${webhook.url}`,
      authorization: Authorization.apiKey(webhook.header, SecretValue.secretsManager(webhook.secretName)),
    });
    const called = { endpoint: webhook.url, httpMethod: HttpMethod.POST, rateLimitPerSecond: 5 };
    const destination = new ApiDestination(this, 'Destination', { connection, ...called });
    const undeliveredArn = Stack.of(this).formatArn({ service: 'sqs', resource: nameIn(stage, 'undelivered') });
    const deadLetterQueue = Queue.fromQueueArn(this, 'Undelivered', undeliveredArn);
    const delivery = { deadLetterQueue, maxEventAge: Duration.hours(1), retryAttempts: 60 };
    for (const severity of webhook.for ? [webhook.for] : (['page', 'ticket'] as const)) {
      new Rule(this, severity, {
        ruleName: webhookRuleName(stage, number, severity),
        description: `Posts alarms of ${stage.name} of the severity ${severity} to ${webhook.url}`,
        eventPattern: {
          source: ['aws.cloudwatch'],
          detailType: ['CloudWatch Alarm State Change'],
          detail: {
            alarmName: [{ prefix: nameIn(stage, '') }],
            configuration: { description: [{ prefix: `${severity}: ` }] },
            // A new alarm becomes OK without ever having started.
            $or: [{ state: { value: ['ALARM'] } }, { state: { value: ['OK'] }, previousState: { value: ['ALARM'] } }],
          },
        },
        targets: [new ApiDestinationTarget(destination as IApiDestination, { event: message(stage, severity), ...delivery })],
      });
    }
  }
}

function message(stage: Stage, severity: Severity): RuleTargetInput {
  const alarm = EventField.fromPath('$.detail.alarmName');
  const state = EventField.fromPath('$.detail.state.value');
  const description = EventField.fromPath('$.detail.configuration.description');
  return RuleTargetInput.fromObject({
    text: `${state}: ${alarm}. ${description}`,
    alarm,
    severity,
    state,
    reason: EventField.fromPath('$.detail.state.reason'),
    time: EventField.fromPath('$.time'),
    stage: stage.name,
  });
}

/**
 * The period of the metrics that alarms and the dashboard watch. A metric of calls that are further apart has a longer period.
 */
export const period = Duration.minutes(5);

/**
 * Returns the period of an alarm on calls of a function: twice the interval of the schedule or twice the timeout, whichever is
 * longer. In a shorter period, an alarm would end between two calls that both fail.
 * @param calls how often a schedule calls the function, and how long a call may last. The next call begins after it
 */
export function periodOfCalls(calls: { everyMinutes?: number; timeoutInSeconds?: number }): Duration {
  const { everyMinutes = 0, timeoutInSeconds = 0 } = calls;
  return Duration.minutes(Math.max(period.toMinutes(), 2 * everyMinutes, 2 * Math.ceil(timeoutInSeconds / 60)));
}

/**
 * The threshold and periods of an alarm that triggers if the table's stream is not read while runs start: two periods of 15
 * minutes of the last eight. A single run at the edge of a period says nothing.
 */
export const whileRunsStart = { periods: 8, ofThem: 2 };

/** Lets an alarm trigger in two periods of three, so not for a single event. */
export const twiceInThree = { periods: 3, ofThem: 2 };

interface AlarmSettings {
  /** The value of the metric at or above which the alarm triggers. Default: 1. */
  threshold?: number;
  /** True for an alarm that triggers if the metric is below the threshold. Missing data counts as 0. Default: false. */
  isTooLittle?: boolean;
  /** True for an alarm that missing data never triggers, even if the alarm triggers below the threshold. Default: false. */
  isOptional?: boolean;
  /** The number of consecutive periods that the alarm looks at. Default: 1. */
  periods?: number;
  /** The number of the evaluated periods that must pass the threshold before the alarm triggers. Default: all. */
  ofThem?: number;
  /** The effect of the failure on users, which is part of the alarm's text. */
  impact: string;
  /** The anchor of the heading in docs/runbook.md that says what to do about the alarm, as links contain it. */
  runbook: string;
}

/** Adds an alarm of a severity to a stage. */
export type AddAlarm = Record<Severity, (name: string, metric: IMetric, settings: AlarmSettings) => void>;

interface ServiceAlarmProps extends AlarmSettings {
  stage: Stage;
  /** The topics that are notified when an alarm of their severity starts and ends. */
  topics: readonly AlarmTopic[];
  severity: Severity;
  metric: IMetric;
}

/** An alarm of the service. Its text begins with its severity, by which targets choose, and contains the effect on users and a link to a heading of the runbook. */
export class ServiceAlarm extends Alarm {
  constructor(scope: Construct, name: string, props: ServiceAlarmProps) {
    const { stage, topics, severity, metric, isTooLittle, isOptional, ofThem, impact, runbook } = props;
    super(scope, name.replace('/', '-'), {
      alarmName: nameIn(stage, name),
      alarmDescription: `${severity}: ${impact} What to do: docs/runbook.md#${runbook}`,
      metric,
      threshold: props.threshold ?? 1,
      evaluationPeriods: props.periods ?? 1,
      ...(ofThem === undefined ? {} : { datapointsToAlarm: ofThem }),
      comparisonOperator: isTooLittle
        ? ComparisonOperator.LESS_THAN_THRESHOLD
        : ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      treatMissingData: isTooLittle && !isOptional ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING,
    });
    const actions = topics.filter((each) => (each.for ?? severity) === severity).map(({ topic }) => new SnsAction(topic));
    this.addAlarmAction(...actions);
    this.addOkAction(...actions);
  }
}
