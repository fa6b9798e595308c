import { undeliveredEventsName } from '../bus/stage-bus.ts';
import { messagesIn, pipeMetric, silenceDuringRuns, sumOf, type Watched } from './metrics.ts';
import { whileRunsStart, type ServiceAlarmProps } from './service-alarm.ts';

/** The alarms of the event bus by name. */
export function busAlarms(watched: Watched): Record<string, Omit<ServiceAlarmProps, 'stage' | 'topics'>> {
  return {
    'events/failing': {
      metric: sumOf({
        failed: pipeMetric(watched, 'ExecutionFailed'),
        partlyFailed: pipeMetric(watched, 'ExecutionPartiallyFailed'),
        timedOut: pipeMetric(watched, 'ExecutionTimeout'),
        throttled: pipeMetric(watched, 'ExecutionThrottled'),
      }),
      threshold: 1,
      periods: 2,
      impact: 'Events reach the bus late. After 12 hours they do not reach it any more.',
      runbook: 'events-do-not-reach-the-bus',
    },
    'events/silent': {
      metric: silenceDuringRuns(watched, pipeMetric(watched, 'Invocations')),
      ...whileRunsStart,
      impact: 'Events do not reach the bus. After 24 hours they do not reach it any more.',
      runbook: 'events-do-not-reach-the-bus',
    },
    'events/undelivered': {
      metric: messagesIn(undeliveredEventsName(watched.stage)),
      threshold: 1,
      impact: 'Some events did not reach the bus. The API has them.',
      runbook: 'events-do-not-reach-the-bus',
    },
  };
}
