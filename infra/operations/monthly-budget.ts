import { createHash } from 'node:crypto';
import { Annotations } from 'aws-cdk-lib';
import { CfnBudget } from 'aws-cdk-lib/aws-budgets';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import { nameIn, targetsOf, type Stage } from '../stages/stage.ts';

export interface MonthlyBudgetProps {
  stage: Stage;
  /** Told in addition to the addresses of the stage. A notification has at most one topic. */
  topic: ITopic | undefined;
}

interface Subscriber {
  subscriptionType: string;
  address: string;
}

/** Notifies when a stage has cost 80 % of its budget this month, or will exceed its budget by AWS's forecast. */
export class MonthlyBudget extends CfnBudget {
  constructor(scope: Construct, id: string, { stage, topic }: MonthlyBudgetProps) {
    const subscribers: Subscriber[] = [
      ...targetsOf(stage).flatMap((target) => ('email' in target ? [{ subscriptionType: 'EMAIL', address: target.email }] : [])),
      ...(topic ? [{ subscriptionType: 'SNS', address: topic.topicArn }] : []),
    ];
    const notify = (notificationType: 'ACTUAL' | 'FORECASTED', threshold: number) => ({
      notification: { notificationType, threshold, thresholdType: 'PERCENTAGE', comparisonOperator: 'GREATER_THAN' },
      subscribers,
    });
    super(scope, id, {
      budget: {
        budgetName: nameFor(stage, subscribers),
        budgetType: 'COST',
        timeUnit: 'MONTHLY',
        budgetLimit: { amount: stage.monthlyBudgetInDollars, unit: 'USD' },
        costFilters: { TagKeyValue: [`user:stage$${stage.name}`] },
      },
      ...(subscribers.length > 0 ? { notificationsWithSubscribers: [notify('ACTUAL', 80), notify('FORECASTED', 100)] } : {}),
    });
    if (subscribers.length === 0 && targetsOf(stage).length > 0) this.warnOfSilence(stage);
  }

  private warnOfSilence({ name }: Stage): void {
    Annotations.of(this).addWarningV2(
      'computations:silent-budget',
      `The budget of the stage ${name} notifies nobody: AWS Budgets cannot call a webhook. Add an e-mail address or a topic to ` +
        'alarmTargets of the stage in infra/stages/stages.ts.',
    );
  }
}

/**
 * The name of the budget. It depends on who is told, because CloudFormation replaces a budget that tells others, and makes the new one
 * before it deletes the old one.
 */
function nameFor(stage: Stage, subscribers: readonly Subscriber[]): string {
  if (subscribers.length === 0) return nameIn(stage, 'month');
  return nameIn(stage, `month-${createHash('sha256').update(JSON.stringify(subscribers)).digest('hex').slice(0, 8)}`);
}
