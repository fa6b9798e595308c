import { Duration } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, TreatMissingData, type IMetric } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import { nameIn, type Stage } from '../stages.ts';

/** The headings of docs/runbook.md for alarms, in the form of link anchors. */
export type RunbookHeading =
  | 'an-endpoint-fails'
  | 'a-task-fails'
  | 'functions-do-not-answer'
  | 'the-sweep-does-not-run'
  | 'functions-are-throttled'
  | 'changes-conflict'
  | 'a-backlog-grows'
  | 'the-api-fails'
  | 'the-api-is-slow'
  | 'the-run-lifecycle-fails'
  | 'events-are-undelivered'
  | 'the-table-throttles';

/** The period of all metrics. */
export const period = Duration.minutes(5);

export interface ServiceAlarmProps {
  stage: Stage;
  /** They are told when the alarm starts and ends. */
  topics: readonly ITopic[];
  metric: IMetric;
  /** The alarm triggers at this value or above. */
  threshold: number;
  /** The alarm triggers below the threshold instead, and missing data counts as 0. */
  isTooLittle?: boolean;
  /** The number of consecutive periods. Default 1. */
  periods?: number;
  /** What users lose. Part of the alarm's text. */
  loses: string;
  runbook: RunbookHeading;
}

/** An alarm whose text says what users lose and names a heading of the runbook. */
export class ServiceAlarm extends Alarm {
  constructor(scope: Construct, name: string, props: ServiceAlarmProps) {
    const { stage, topics, metric, threshold, isTooLittle, periods, loses, runbook } = props;
    super(scope, name.replace('/', '-'), {
      alarmName: nameIn(stage, name),
      alarmDescription: `${loses} What to do: docs/runbook.md#${runbook}`,
      metric,
      threshold,
      evaluationPeriods: periods ?? 1,
      comparisonOperator: isTooLittle
        ? ComparisonOperator.LESS_THAN_THRESHOLD
        : ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      treatMissingData: isTooLittle ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING,
    });
    const actions = topics.map((topic) => new SnsAction(topic));
    this.addAlarmAction(...actions);
    this.addOkAction(...actions);
  }
}
