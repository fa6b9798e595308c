import { Duration } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, TreatMissingData, type IMetric } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import { nameIn, type Stage } from '../stages/stage.ts';

/**
 * The period of the metrics that alarms and the dashboard watch. A metric of calls that are further apart has a longer period.
 */
export const period = Duration.minutes(5);

/**
 * Returns the period of an alarm on calls of a function: twice the interval of the schedule or twice the timeout, whichever is
 * longer. In a shorter period, an alarm would end between two calls that both fail.
 * @param calls how often a schedule calls the function, and how long a call may last. The next call begins after it
 */
export function periodOfCalls({ everyMinutes = 0, timeoutInSeconds = 0 }: Calls): Duration {
  return Duration.minutes(Math.max(period.toMinutes(), 2 * everyMinutes, 2 * Math.ceil(timeoutInSeconds / 60)));
}

/**
 * The threshold and periods of an alarm that triggers if the table's stream is not read while runs start: two periods of 15
 * minutes of the last eight. A single run at the edge of a period says nothing.
 */
export const whileRunsStart = { threshold: 1, periods: 8, ofThem: 2 };

interface Calls {
  everyMinutes?: number;
  timeoutInSeconds?: number;
}

export interface ServiceAlarmProps {
  stage: Stage;
  /** The topics that are notified when the alarm starts and ends. */
  topics: readonly ITopic[];
  metric: IMetric;
  /** The value of the metric at or above which the alarm triggers. */
  threshold: number;
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

/** An alarm of the service. Its text contains the effect on users and a link to a heading of the runbook. */
export class ServiceAlarm extends Alarm {
  constructor(scope: Construct, name: string, props: ServiceAlarmProps) {
    const { stage, topics, metric, threshold, isTooLittle, isOptional, periods, ofThem, impact, runbook } = props;
    super(scope, name.replace('/', '-'), {
      alarmName: nameIn(stage, name),
      alarmDescription: `${impact} What to do: docs/runbook.md#${runbook}`,
      metric,
      threshold,
      evaluationPeriods: periods ?? 1,
      ...(ofThem === undefined ? {} : { datapointsToAlarm: ofThem }),
      comparisonOperator: isTooLittle
        ? ComparisonOperator.LESS_THAN_THRESHOLD
        : ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      treatMissingData: isTooLittle && !isOptional ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING,
    });
    const actions = topics.map((topic) => new SnsAction(topic));
    this.addAlarmAction(...actions);
    this.addOkAction(...actions);
  }
}
