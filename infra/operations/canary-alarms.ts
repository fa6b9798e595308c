import type { CanaryRow } from '../stages/stage.ts';
import { functionMetric, type Watched } from './metrics.ts';
import { periodOfCalls, type ServiceAlarmProps } from './service-alarm.ts';

/** The alarms of the canary by name. */
export function canaryAlarms(
  watched: Watched,
  { everyMinutes }: CanaryRow,
): Record<string, Omit<ServiceAlarmProps, 'stage' | 'topics'>> {
  const period = periodOfCalls({ everyMinutes });
  return {
    'canary/fails': {
      metric: functionMetric(watched, 'canary', 'Errors').with({ period }),
      threshold: 1,
      impact: 'Maybe none yet. What failed for the canary will soon fail for users.',
      runbook: 'the-canary-fails',
    },
    'canary/silent': {
      metric: functionMetric(watched, 'canary', 'Invocations').with({ period }),
      threshold: 1,
      isTooLittle: true,
      impact: 'No immediate effect. Failures that no user request triggers would go unnoticed.',
      runbook: 'the-canary-fails',
    },
  };
}
