import { createHash } from 'node:crypto';
import { Annotations } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { CfnBudget } from 'aws-cdk-lib/aws-budgets';
import type { Deployed } from '../service/service-stack.ts';
import { StageStack } from '../house.ts';
import { isPaged, targetsOf, webhooksOf, type Stage, nameIn } from '../stages/stage.ts';
import { addAlarmTopics, AlarmWebhook } from './service-alarm.ts';
import { Alarms } from './alarms.ts';
import { ServiceDashboard } from './dashboard.ts';

/** The stack of the service's alarms, the recipients of the alarms, and the dashboard. */
export class OperationsStack extends StageStack {
  constructor(scope: Construct, id: string, { stage, state, service }: Deployed) {
    super(scope, id, stage, 'Computation management: alarms and dashboard');
    this.requireAlarmTargets(stage);
    const topics = addAlarmTopics(this, stage, targetsOf(stage));
    for (const [index, webhook] of webhooksOf(stage).entries()) new AlarmWebhook(this, stage, webhook, index + 1);

    const { apiId, stateMachineArn, reservedExecutions } = service;
    const watched = { stage, apiId, stateMachineArn, tableName: state.resources.tableName, reservedExecutions };
    const alarms = new Alarms(this, 'Alarms', watched, topics);
    new ServiceDashboard(this, 'Dashboard', watched, alarms);
  }

  private requireAlarmTargets(stage: Stage): void {
    const { name, alarmTargets, deletionProtection } = stage;
    if (isPaged(stage) || (alarmTargets === 'none' && !deletionProtection)) return;
    Annotations.of(this).addError(
      `The urgent alarms of the stage ${name} notify nobody. Add a target to its alarmTargets in infra/stages/stages.ts` +
        (deletionProtection ? ': its data is protected from deletion, so somebody relies on it.' : ", or set them to 'none'."),
    );
  }
}

/**
 * The stack of a budget, which notifies when a stage has cost 80 % of the budget this month, or will exceed the budget by AWS's
 * forecast. The budget has a stack of its own, because an organisation may deny budgets.
 */
export class BudgetStack extends StageStack {
  constructor(scope: Construct, id: string, { stage, dollars }: { stage: Stage; dollars: number }) {
    super(scope, id, stage, 'Computation management: budget');
    const [topic] = targetsOf(stage).flatMap((target) => ('topicArn' in target ? [target.topicArn] : [])); // a notification has at most one
    const subscribers: CfnBudget.SubscriberProperty[] = [
      ...targetsOf(stage).flatMap((target) => ('email' in target ? [{ subscriptionType: 'EMAIL', address: target.email }] : [])),
      ...(topic ? [{ subscriptionType: 'SNS', address: topic }] : []),
    ];
    const notify = (notificationType: 'ACTUAL' | 'FORECASTED', threshold: number) => ({
      notification: { notificationType, threshold, thresholdType: 'PERCENTAGE', comparisonOperator: 'GREATER_THAN' },
      subscribers,
    });
    new CfnBudget(this, 'Budget', {
      budget: {
        budgetName: nameFor(stage, subscribers),
        budgetType: 'COST',
        timeUnit: 'MONTHLY',
        budgetLimit: { amount: dollars, unit: 'USD' },
        costFilters: { TagKeyValue: [`user:stage$${stage.name}`] },
      },
      ...(subscribers.length > 0 ? { notificationsWithSubscribers: [notify('ACTUAL', 80), notify('FORECASTED', 100)] } : {}),
    });
    if (subscribers.length > 0 || targetsOf(stage).length === 0) return;
    Annotations.of(this).addWarningV2(
      'computations:silent-budget',
      `The budget of the stage ${stage.name} notifies nobody: AWS Budgets cannot call a webhook. Add an e-mail address or a topic to ` +
        'alarmTargets of the stage in infra/stages/stages.ts.',
    );
  }
}

/**
 * Returns the name of the budget, which depends on the subscribers. CloudFormation replaces a budget with other subscribers, and
 * makes the new budget before it deletes the old one.
 */
function nameFor(stage: Stage, subscribers: readonly CfnBudget.SubscriberProperty[]): string {
  if (subscribers.length === 0) return nameIn(stage, 'month');
  return nameIn(stage, `month-${createHash('sha256').update(JSON.stringify(subscribers)).digest('hex').slice(0, 8)}`);
}
