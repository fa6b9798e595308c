import { Duration } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, TreatMissingData, type IMetric } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import { nameIn, type Stage } from '../stages.ts';

/** The headings of docs/runbook.md that an alarm can point at, in the form of their links. */
export type RunbookHeading =
  | 'an-endpoint-fails'
  | 'a-task-fails'
  | 'the-sweep-does-not-run'
  | 'functions-are-throttled'
  | 'the-api-fails'
  | 'the-api-is-slow'
  | 'the-run-lifecycle-fails'
  | 'events-are-undelivered'
  | 'the-table-throttles';

/** What is counted, in periods of five minutes. */
export const period = Duration.minutes(5);

export interface ServiceAlarmProps {
  stage: Stage;
  topic: ITopic;
  metric: IMetric;
  /** It rings from here on. */
  threshold: number;
  /** Below the threshold, where that is the trouble; missing data then counts as none. */
  isTooLittle?: boolean;
  /** So many periods in a row; 1 unless told. */
  periods?: number;
  /** What a user loses. */
  loses: string;
  runbook: RunbookHeading;
}

/** An alarm that says what a user loses and where to read on. */
export class ServiceAlarm extends Alarm {
  constructor(scope: Construct, name: string, props: ServiceAlarmProps) {
    const { stage, topic, metric, threshold, isTooLittle, periods, loses, runbook } = props;
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
    this.addAlarmAction(new SnsAction(topic));
    this.addOkAction(new SnsAction(topic));
  }
}
