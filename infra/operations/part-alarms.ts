import { Stats } from 'aws-cdk-lib/aws-cloudwatch';
import type { GatewayRow, CanaryRow } from '../stages/stage.ts';
import {
  bounceRate,
  gatewayTaskMetric,
  serviceMetric,
  type Watched,
  messagesIn,
  pipeMetric,
  silenceDuringRuns,
  sumOf,
  functionMetric,
} from './metrics.ts';
import { type AddAlarm, whileRunsStart, periodOfCalls } from './service-alarm.ts';
import { undeliveredEventsName } from '../bus/stage-bus.ts';

/**
 * Adds the alarms of the gateway. A metric of the gateway is the largest value of all tasks, or the sum of what the
 * tasks counted.
 */
export function addGatewayAlarms({ page, ticket }: AddAlarm, watched: Watched, { tasks }: GatewayRow): void {
  page('gateway/tasks', serviceMetric(watched, 'ConnectedCvms', Stats.SAMPLE_COUNT), {
    threshold: tasks * 5 - 1, // each writes once a minute, which is not exactly that of the metric
    isTooLittle: true,
    periods: 2,
    impact: 'Fewer gateways serve CVMs than the stage has, or none.',
    runbook: 'gateways-are-missing',
  });
  ticket('gateway/streams-refused', serviceMetric(watched, 'StreamsRefused'), {
    threshold: 30, // a CVM that is refused tries again every five seconds
    periods: 2,
    impact: 'A CVM cannot connect, so it takes no runs. Or somebody else pretends to be a CVM.',
    runbook: 'cvms-are-refused',
  });
  page('gateway/identity-conflicts', serviceMetric(watched, 'IdentityConflicts'), {
    impact: 'A second machine has the certificate and key of a CVM. The first one keeps its runs.',
    runbook: 'two-machines-are-one-cvm',
  });
  ticket('gateway/missing-forwarders', serviceMetric(watched, 'MissingForwarders', Stats.MAXIMUM), {
    periods: 6,
    impact: 'Logs and some events of a CVM are lost. Its states are still recorded.',
    runbook: 'cvms-have-no-log-forwarder',
  });
  ticket('gateway/spent-cvms', serviceMetric(watched, 'SpentCvms', Stats.MAXIMUM), {
    periods: 6,
    impact: 'A CVM takes no further run until its agent is restarted.',
    runbook: 'cvms-are-spent',
  });
  page('gateway/outbox-age', serviceMetric(watched, 'OutboxAge', Stats.MAXIMUM), {
    threshold: 60_000,
    impact: 'Events and outcomes of runs arrive late.',
    runbook: 'reports-wait-in-the-gateway',
  });
  ticket('gateway/reports-dropped', serviceMetric(watched, 'ReportsDropped'), {
    impact: 'Some warnings of agents are not in the journal. Outcomes are.',
    runbook: 'reports-wait-in-the-gateway',
  });
  ticket('gateway/memory', gatewayTaskMetric(watched, 'MemoryUtilization'), {
    threshold: 85,
    periods: 2,
    impact: 'Nothing yet. A gateway that runs out of memory stops, and its CVMs connect to another gateway.',
    runbook: 'the-gateway-is-full',
  });
  page('gateway/processor', gatewayTaskMetric(watched, 'CPUUtilization'), {
    threshold: 80,
    periods: 3,
    impact: 'Commands reach CVMs late.',
    runbook: 'the-gateway-is-full',
  });
  ticket('gateway/certificate', serviceMetric(watched, 'CertificateDays', Stats.MINIMUM), {
    threshold: 60,
    isTooLittle: true,
    isOptional: true, // gateways that write nothing have an alarm of their own
    impact: 'Nothing yet. When the certificate of the gateway expires, no CVM can connect.',
    runbook: 'a-certificate-expires',
  });
}

/** Adds the alarms of the event bus. */
export function addBusAlarms({ page, ticket }: AddAlarm, watched: Watched): void {
  const lapses = {
    failed: pipeMetric(watched, 'ExecutionFailed'),
    partlyFailed: pipeMetric(watched, 'ExecutionPartiallyFailed'),
    timedOut: pipeMetric(watched, 'ExecutionTimeout'),
    throttled: pipeMetric(watched, 'ExecutionThrottled'),
  };
  page('events/failing', sumOf(lapses), {
    periods: 2,
    impact: 'Events reach the bus late. After 12 hours they do not reach it any more.',
    runbook: 'events-do-not-reach-the-bus',
  });
  page('events/silent', silenceDuringRuns(watched, pipeMetric(watched, 'Invocations')), {
    ...whileRunsStart,
    impact: 'Events do not reach the bus. After 24 hours they do not reach it any more.',
    runbook: 'events-do-not-reach-the-bus',
  });
  ticket('events/undelivered', messagesIn(undeliveredEventsName(watched.stage)), {
    impact: 'Some events did not reach the bus. The API has them.',
    runbook: 'events-do-not-reach-the-bus',
  });
}

/** Adds the alarms of the canary. */
export function addCanaryAlarms({ page, ticket }: AddAlarm, watched: Watched, { everyMinutes }: CanaryRow): void {
  const period = periodOfCalls({ everyMinutes });
  page('canary/fails', functionMetric(watched, 'canary', 'Errors').with({ period }), {
    impact: 'What failed for the canary fails for users, or soon will.',
    runbook: 'the-canary-fails',
  });
  ticket('canary/silent', functionMetric(watched, 'canary', 'Invocations').with({ period }), {
    isTooLittle: true,
    impact: 'No immediate effect. Failures that no user request triggers would go unnoticed.',
    runbook: 'the-canary-fails',
  });
}

/** Adds the alarm of mail. */
export function addMailAlarms({ ticket }: AddAlarm): void {
  ticket('mail-bounces', bounceRate(), {
    threshold: 0.05, // SES stops an account at 0.1
    isOptional: true, // SES writes it only while mail is sent
    impact: 'Some users get no mail. If more of it bounces, SES stops all mail of the account.',
    runbook: 'mail-is-not-sent',
  });
}
