import { Stats } from 'aws-cdk-lib/aws-cloudwatch';
import type { GatewayRow, CanaryRow } from '../stages/stage.ts';
import {
  gatewayTaskMetric,
  serviceMetric,
  type Watched,
  messagesIn,
  pipeMetric,
  silenceDuringRuns,
  sumOf,
  functionMetric,
} from './metrics.ts';
import { type ServiceAlarmProps, whileRunsStart, periodOfCalls } from './service-alarm.ts';
import { undeliveredEventsName } from '../bus/stage-bus.ts';

type GatewayAlarm = Omit<ServiceAlarmProps, 'stage' | 'topics'>;

/**
 * Returns the alarms of the gateway by name. A metric of the gateway is the largest value of all tasks, or the sum of what the
 * tasks counted.
 */
export function gatewayAlarms(watched: Watched, { tasks }: GatewayRow): Record<string, GatewayAlarm> {
  return {
    'gateway/tasks': {
      metric: serviceMetric(watched, 'ConnectedCvms', Stats.SAMPLE_COUNT),
      threshold: tasks * 5 - 1, // each writes once a minute, which is not exactly that of the metric
      isTooLittle: true,
      periods: 2,
      impact: 'Fewer gateways serve CVMs than the stage has, or none.',
      runbook: 'gateways-are-missing',
    },
    'gateway/streams-refused': {
      metric: serviceMetric(watched, 'StreamsRefused'),
      threshold: 30, // a CVM that is refused tries again every five seconds
      periods: 2,
      impact: 'A CVM cannot connect, so it takes no runs. Or somebody else pretends to be a CVM.',
      runbook: 'cvms-are-refused',
    },
    'gateway/identity-conflicts': {
      metric: serviceMetric(watched, 'IdentityConflicts'),
      threshold: 1,
      impact: 'A second machine has the certificate and key of a CVM. The first one keeps its runs.',
      runbook: 'two-machines-are-one-cvm',
    },
    'gateway/missing-forwarders': {
      metric: serviceMetric(watched, 'MissingForwarders', Stats.MAXIMUM),
      threshold: 1,
      periods: 6,
      impact: 'Logs and some events of a CVM are lost. Its states are still recorded.',
      runbook: 'cvms-have-no-log-forwarder',
    },
    'gateway/spent-cvms': {
      metric: serviceMetric(watched, 'SpentCvms', Stats.MAXIMUM),
      threshold: 1,
      periods: 6,
      impact: 'A CVM takes no further run until its agent is restarted.',
      runbook: 'cvms-are-spent',
    },
    'gateway/outbox-age': {
      metric: serviceMetric(watched, 'OutboxAge', Stats.MAXIMUM),
      threshold: 60_000,
      impact: 'Events and outcomes of runs arrive late.',
      runbook: 'reports-wait-in-the-gateway',
    },
    'gateway/reports-dropped': {
      metric: serviceMetric(watched, 'ReportsDropped'),
      threshold: 1,
      impact: 'Some warnings of agents are not in the journal. Outcomes are.',
      runbook: 'reports-wait-in-the-gateway',
    },
    'gateway/memory': {
      metric: gatewayTaskMetric(watched, 'MemoryUtilization'),
      threshold: 85,
      periods: 2,
      impact: 'Nothing yet. A gateway that runs out of memory stops, and its CVMs connect to another gateway.',
      runbook: 'the-gateway-is-full',
    },
    'gateway/processor': {
      metric: gatewayTaskMetric(watched, 'CPUUtilization'),
      threshold: 80,
      periods: 3,
      impact: 'Commands reach CVMs late.',
      runbook: 'the-gateway-is-full',
    },
    'gateway/certificate': {
      metric: serviceMetric(watched, 'CertificateDays', Stats.MINIMUM),
      threshold: 60,
      isTooLittle: true,
      isOptional: true, // gateways that write nothing have an alarm of their own
      impact: 'Nothing yet. When the certificate of the gateway expires, no CVM can connect.',
      runbook: 'a-certificate-expires',
    },
  };
}

/** Returns the alarms of the event bus by name. */
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

/** Returns the alarms of the canary by name. */
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
