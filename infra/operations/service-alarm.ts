import { Duration } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, TreatMissingData, type IMetric } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import { nameIn, type Stage } from '../stages/stage.ts';

/** The period of a metric, except for that of calls that are further apart. */
export const period = Duration.minutes(5);

/**
 * Returns twice the interval of the schedule or twice the timeout, whichever is longer. In a shorter period, an alarm would end
 * between two calls that both fail.
 * @param calls how often a schedule calls the function, and how long a call may last. The next call begins after it
 */
export function periodOfCalls({ everyMinutes = 0, timeoutInSeconds = 0 }: Calls): Duration {
  return Duration.minutes(Math.max(period.toMinutes(), 2 * everyMinutes, 2 * Math.ceil(timeoutInSeconds / 60)));
}

/**
 * The threshold and periods of an alarm on silence during runs: two periods of 15 minutes of the last eight. A single run at the edge
 * of a period says nothing.
 */
export const whileRunsStart = { threshold: 1, periods: 8, ofThem: 2 };

interface Calls {
  everyMinutes?: number;
  timeoutInSeconds?: number;
}

export interface ServiceAlarmProps {
  stage: Stage;
  /** The topics that are told when the alarm starts and ends. */
  topics: readonly ITopic[];
  metric: IMetric;
  /** The value of the metric at or above which the alarm triggers. */
  threshold: number;
  /** True for an alarm that triggers below the threshold, to which missing data counts as 0. Default: false. */
  isTooLittle?: boolean;
  /** True for an alarm that missing data never triggers, even if it triggers below the threshold. Default: false. */
  isOptional?: boolean;
  /** The number of consecutive periods. Default 1. */
  periods?: number;
  /** The number of the periods that must be over the threshold. Default: all. */
  ofThem?: number;
  /** The effect on users. Part of the alarm's text. */
  impact: string;
  /** A heading of docs/runbook.md, as links have it. */
  runbook: string;
}

/** An alarm whose text names the impact and names a heading of the runbook. */
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
