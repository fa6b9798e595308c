import type { Duration } from 'aws-cdk-lib';
import { Stats } from 'aws-cdk-lib/aws-cloudwatch';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import { routes } from '../../shared/endpoints/endpoints.ts';
import { tasks, type TaskName } from '../../shared/tasks/tasks.ts';
import { busAlarms, canaryAlarms, gatewayAlarms } from './part-alarms.ts';
import {
  apiFailureRate,
  daysOfCertificate,
  endpointFailures,
  executionMetric,
  failedRuns,
  finishedCopies,
  functionMetric,
  messagesIn,
  refusalRate,
  serviceMetric,
  silenceDuringRuns,
  slowRequestRate,
  sumOf,
  tableMetric,
  throttledSteps,
  unansweredRequests,
  unreservedConcurrency,
  undeliveredEvents,
  type Watched,
} from './metrics.ts';
import { keyChangesName } from '../state/keys.ts';
import { periodOfCalls, ServiceAlarm, whileRunsStart, type ServiceAlarmProps } from './service-alarm.ts';

/**
 * The failures in a period from which an alarm triggers, if the callers retry: callers of endpoints, and the state machine. Users
 * notice only repeated failures.
 */
const thresholdWithRetries = 3;

const periodsOfTasks = Object.fromEntries(
  tasks.map(({ name, trigger, timeoutInSeconds }) => [
    name,
    periodOfCalls({ timeoutInSeconds, ...(typeof trigger === 'object' ? trigger : {}) }),
  ]),
) as Record<TaskName, Duration>;

/** The alarms of a stage: one for every endpoint, every task, and each service of AWS that they depend on. */
export class Alarms extends Construct {
  readonly all: ServiceAlarm[] = [];

  constructor(scope: Construct, id: string, watched: Watched, topics: readonly ITopic[]) {
    super(scope, id);
    const { stage, reservedExecutions } = watched;
    const alarm = (name: string, props: Omit<ServiceAlarmProps, 'stage' | 'topics'>) => {
      this.all.push(new ServiceAlarm(this, name, { stage, topics, ...props }));
    };

    for (const [name, { impact }] of new Map(routes.map((route) => [route.name, route]))) {
      alarm(name, {
        metric: endpointFailures(watched, name),
        threshold: thresholdWithRetries,
        impact,
        runbook: 'an-endpoint-fails',
      });
    }
    for (const { name, impact, trigger } of tasks) {
      alarm(name, {
        metric: functionMetric(watched, name, 'Errors').with({ period: periodsOfTasks[name] }),
        threshold: trigger === 'state machine' ? thresholdWithRetries : 1,
        impact,
        runbook: 'a-task-fails',
      });
    }
    for (const { name, impact, trigger } of tasks) {
      if (typeof trigger !== 'object') continue;
      const [, [verb] = []] = name.split('/').map((part) => part.split('-'));
      alarm(`${verb}-silent`, {
        metric: functionMetric(watched, name, 'Invocations').with({ period: periodsOfTasks[name] }),
        threshold: 1,
        isTooLittle: true,
        periods: 2,
        impact,
        runbook: 'a-schedule-does-not-run',
      });
    }
    alarm('table-stream-silent', {
      metric: silenceDuringRuns(watched, functionMetric(watched, 'maintenance/follow-table', 'Invocations')),
      ...whileRunsStart,
      impact: 'Lists are folded by the schedule only, so they are read more slowly. They are still exact.',
      runbook: 'the-table-stream-is-read-late',
    });
    alarm('callers-refused', {
      metric: refusalRate(watched),
      threshold: 95,
      periods: 3,
      impact: 'Almost all requests are refused: callers cannot sign in, or use a wrong address or token.',
      runbook: 'all-callers-are-refused',
    });
    alarm('key-changes', {
      metric: messagesIn(keyChangesName(stage)),
      threshold: 1,
      impact:
        'A KMS key of the stage was disabled, or will be deleted. What it has sealed cannot be opened, or evidence not be signed.',
      runbook: 'a-key-is-disabled',
    });
    alarm('collateral-expires', {
      metric: serviceMetric(watched, 'CollateralDays', Stats.MINIMUM).with({
        period: periodsOfTasks['maintenance/collect-content'],
      }),
      threshold: 8, // whole days that are left: fewer than 7 and a part
      isTooLittle: true,
      isOptional: true, // a stage without documents writes nothing
      impact:
        'Nothing yet. When the documents of Intel or AMD run out, no run with an attestation policy starts on the CVMs that need them.',
      runbook: 'collateral-runs-out',
    });
    alarm('content-missing', {
      metric: serviceMetric(watched, 'ContentMissing'),
      threshold: 1,
      impact: 'The content of an asset is missing. Runs that need it fail.',
      runbook: 'content-is-missing',
    });
    alarm('throttled-steps', {
      metric: throttledSteps(watched),
      threshold: thresholdWithRetries,
      periods: 2,
      impact: 'Commands reach CVMs late, and runs look active for longer.',
      runbook: 'functions-are-throttled',
    });
    alarm('concurrency', {
      metric: unreservedConcurrency(),
      threshold: Math.floor((stage.accountConcurrency - reservedExecutions) * 0.8), // of those that no function reserves
      impact: 'Nothing yet. When no more functions can run at the same time, requests are answered 503.',
      runbook: 'functions-are-throttled',
    });
    alarm('conflicts', {
      metric: serviceMetric(watched, 'ConflictsRetried'),
      threshold: 3_000, // 10 retries a second: each waits up to a second, so they hold several functions all the time
      periods: 2,
      impact: 'Changes are slow, and some are answered 503.',
      runbook: 'changes-conflict',
    });
    alarm('purge-backlog', {
      metric: serviceMetric(watched, 'Waiting', Stats.MAXIMUM, { task: 'maintenance/purge' }),
      threshold: 1_000,
      periods: 3,
      impact: 'No immediate effect. Deleted data stays in storage longer than usual.',
      runbook: 'a-backlog-grows',
    });
    alarm('list-backlog', {
      metric: serviceMetric(watched, 'ListBacklog', Stats.MAXIMUM),
      threshold: 5_000, // 500 changes a second leave up to 2,000
      periods: 2,
      impact: 'Lists are read more slowly. From 20,000 changes on, further ones are answered 503.',
      runbook: 'lists-are-folded-late',
    });
    alarm('table-stream-late', {
      metric: functionMetric(watched, 'maintenance/follow-table', 'IteratorAge', Stats.MAXIMUM),
      threshold: 5 * 60_000, // milliseconds. Records wait for one fold, some seconds
      periods: 2,
      impact: 'Lists are folded by the schedule only, so they are read more slowly. They are still exact.',
      runbook: 'the-table-stream-is-read-late',
    });
    alarm('list-drift', {
      metric: serviceMetric(watched, 'ListDrift'),
      threshold: 1,
      impact: 'A list or its total may be wrong by some members.',
      runbook: 'a-list-differs-from-its-rows',
    });
    alarm('content-backlog', {
      metric: serviceMetric(watched, 'Waiting', Stats.MAXIMUM, { task: 'maintenance/collect-content' }).with({
        period: periodsOfTasks['maintenance/collect-content'],
      }),
      threshold: 1_000,
      impact: 'Uploads whose notification was lost stay pending for longer. Replaced content is still stored.',
      runbook: 'a-backlog-grows',
    });
    alarm('api-failures', {
      metric: apiFailureRate(watched),
      threshold: 5,
      periods: 2,
      impact: 'One request in twenty fails, or more.',
      runbook: 'the-api-fails',
    });
    alarm('unanswered-requests', {
      metric: unansweredRequests(watched),
      threshold: thresholdWithRetries,
      periods: 2,
      impact: 'Some requests are answered 5xx because a function does not start, times out or is throttled.',
      runbook: 'functions-do-not-answer',
    });
    alarm('api-latency', {
      metric: slowRequestRate(watched, 3000),
      threshold: 1,
      periods: 3,
      impact: 'One request in a hundred takes longer than 3 seconds.',
      runbook: 'the-api-is-slow',
    });
    alarm('run-lifecycle', {
      metric: sumOf({
        failed: executionMetric(watched, 'ExecutionsFailed'),
        timedOut: executionMetric(watched, 'ExecutionsTimedOut'),
        aborted: executionMetric(watched, 'ExecutionsAborted'),
        throttled: executionMetric(watched, 'ExecutionThrottled'),
      }),
      threshold: 1,
      impact: 'A run ended as failed, even if its CVM succeeded.',
      runbook: 'the-run-lifecycle-fails',
    });
    alarm('failed-runs', {
      metric: failedRuns(watched),
      threshold: 5,
      impact: 'Most runs fail, on their CVMs or before a CVM has taken them.',
      runbook: 'runs-fail',
    });
    alarm('undelivered', {
      metric: undeliveredEvents(watched),
      threshold: 1,
      impact: 'An upload stays pending, or a run or a purge waits for the next sweep.',
      runbook: 'events-are-undelivered',
    });
    alarm('table-throttles', {
      metric: sumOf({
        reads: tableMetric(watched, 'ReadThrottleEvents'),
        writes: tableMetric(watched, 'WriteThrottleEvents'),
      }),
      threshold: 1,
      impact: 'Requests are slow, and some are answered 503.',
      runbook: 'the-table-throttles',
    });
    if (stage.copiesVaultArn !== undefined) {
      alarm('copies-silent', {
        metric: finishedCopies(watched),
        threshold: 2, // table and content
        isTooLittle: true,
        periods: 2,
        impact: 'Nothing yet. If the Region is gone, more than a day is lost.',
        runbook: 'a-schedule-does-not-run',
      });
    }
    if (stage.domain?.certificateArn !== undefined) {
      alarm('domain-certificate', {
        metric: daysOfCertificate(stage.domain.certificateArn),
        threshold: 30,
        isTooLittle: true,
        isOptional: true, // ACM writes it twice a day
        impact: 'Nothing yet. When the certificate of the domain expires, no caller can connect.',
        runbook: 'a-certificate-expires',
      });
    }
    const { gateway, eventBus, canary } = stage;
    const ofParts = {
      ...(gateway && gatewayAlarms(watched, gateway)),
      ...(eventBus && busAlarms(watched)),
      ...(canary && canaryAlarms(watched, canary)),
    };
    for (const [name, props] of Object.entries(ofParts)) alarm(name, props);
  }
}
