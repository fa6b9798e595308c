import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import type { Construct } from 'constructs';
import { acknowledge } from '../acknowledge.ts';
import type { ServiceStack } from '../service/service-stack.ts';
import { StageStack } from '../stage-stack.ts';
import { nameIn, type Stage } from '../stages.ts';
import type { StateStack } from '../state/state-stack.ts';
import { Alarms } from './alarms.ts';
import { ServiceDashboard } from './dashboard.ts';

export interface OperationsStackProps {
  stage: Stage;
  state: StateStack;
  service: ServiceStack;
}

/** The service's alarms, the topic that they notify, and the dashboard. */
export class OperationsStack extends StageStack {
  constructor(scope: Construct, id: string, { stage, state, service }: OperationsStackProps) {
    super(scope, id, stage, 'Computation management: alarms and dashboard');
    const topic = new Topic(this, 'Topic', { topicName: nameIn(stage, 'alarms'), enforceSSL: true });
    topic.addToResourcePolicy(publishedByAlarmsOf(this.account, topic.topicArn));
    if (stage.alarmEmail) {
      const subscription = topic.addSubscription(new EmailSubscription(stage.alarmEmail));
      acknowledge(
        subscription,
        'Serverless-SNSRedrivePolicy',
        'An undelivered email is useless later. The alarm itself stays visible.',
      );
    }

    const { apiId, stateMachineArn } = service;
    const watched = { stage, apiId, stateMachineArn, tableName: state.resources.tableName };
    const alarms = new Alarms(this, 'Alarms', watched, topic);
    new ServiceDashboard(this, 'Dashboard', watched, alarms);
  }
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
