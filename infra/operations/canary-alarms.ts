import { Duration } from 'aws-cdk-lib';
import type { CanaryRow } from '../stage.ts';
import { functionMetric, type Watched } from './metrics.ts';
import type { ServiceAlarmProps } from './service-alarm.ts';

/** The alarms of the canary by name. */
export function canaryAlarms(
  watched: Watched,
  { everyMinutes }: CanaryRow,
): Record<string, Omit<ServiceAlarmProps, 'stage' | 'topics'>> {
  return {
    'canary/fails': {
      metric: functionMetric(watched, 'canary', 'Errors'),
      threshold: 1,
      impact: 'Perhaps nothing yet. Users soon find what the canary could not do.',
      runbook: 'the-canary-fails',
    },
    'canary/silent': {
      metric: functionMetric(watched, 'canary', 'Invocations').with({ period: Duration.minutes(2 * everyMinutes) }),
      threshold: 1,
      isTooLittle: true,
      impact: 'No immediate effect. Nobody would be told of trouble that no request shows.',
      runbook: 'the-canary-fails',
    },
  };
}
