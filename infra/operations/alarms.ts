import type { Duration } from 'aws-cdk-lib';
import { Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { Construct } from 'constructs';
import { routes } from '../../shared/endpoints/endpoints.ts';
import { tasks, type Task, type TaskName, type Trigger } from '../../shared/tasks/tasks.ts';
import type { Severity } from '../stages/stage.ts';
import { addBusAlarms, addCanaryAlarms, addGatewayAlarms, addMailAlarms } from './part-alarms.ts';
import {
  apiFailureRate,
  daysOfCertificate,
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
import { type AddAlarm, type AlarmTopic, periodOfCalls, ServiceAlarm, twiceInThree, whileRunsStart } from './service-alarm.ts';
import { keyChangesName } from '../state/keys.ts';

/**
 * The failures in a period from which an alarm triggers, if the callers retry: callers of endpoints, and the state machine. Users
 * notice only repeated failures.
 */
const thresholdWithRetries = 3;

/** Returns the failures of a task in its period from which an alarm triggers: more than one if another call follows within a minute. */
function failuresOf(trigger: Trigger): number {
  if (typeof trigger === 'object') return trigger.everyMinutes === 1 ? 2 : 1;
  return trigger === 'state machine' || trigger === 'table stream' ? thresholdWithRetries : 1;
}

const periodsOfTasks = Object.fromEntries(
  tasks.map(({ name, trigger, timeoutInSeconds }) => [
    name,
    periodOfCalls({ timeoutInSeconds, ...(typeof trigger === 'object' ? trigger : {}) }),
  ]),
) as Record<TaskName, Duration>;

/** The alarms of a stage: one for every endpoint, every task, and each service of AWS that they depend on. */
export class Alarms extends Construct {
  readonly all: ServiceAlarm[] = [];

  constructor(scope: Construct, id: string, watched: Watched, topics: readonly AlarmTopic[]) {
    super(scope, id);
    const { stage, reservedExecutions } = watched;
    const adding =
      (severity: Severity): AddAlarm[Severity] =>
      (name, metric, props) =>
        this.all.push(new ServiceAlarm(this, name, { stage, topics, severity, metric, ...props }));
    const add = { page: adding('page'), ticket: adding('ticket') };
    const { page, ticket } = add;

    for (const [name, { impact }] of new Map(routes.map((route) => [route.name, route]))) {
      const metric = serviceMetric(watched, 'RequestsFailed', Stats.SUM, { endpoint: name }); // answers 500 and 503
      page(name, metric, { threshold: thresholdWithRetries, impact, runbook: 'an-endpoint-fails' });
    }
    for (const { name, impact, trigger, severity = 'page' } of tasks as readonly (Task & { name: TaskName })[]) {
      const metricOf = (of: 'Errors' | 'Invocations') => functionMetric(watched, name, of).with({ period: periodsOfTasks[name] });
      add[severity](name, metricOf('Errors'), { threshold: failuresOf(trigger), impact, runbook: 'a-task-fails' });
      if (typeof trigger !== 'object') continue;
      const [, [verb] = []] = name.split('/').map((part) => part.split('-'));
      const silent = { isTooLittle: true, periods: 2, impact, runbook: 'a-schedule-does-not-run' };
      add[severity](`${verb}-silent`, metricOf('Invocations'), silent);
    }
    const ofCollection = { period: periodsOfTasks['maintenance/collect-content'] };
    const backlogOf = (task: TaskName) => serviceMetric(watched, 'Waiting', Stats.MAXIMUM, { task });
    const following = functionMetric(watched, 'maintenance/follow-table', 'Invocations');
    ticket('table-stream-silent', silenceDuringRuns(watched, following), {
      ...whileRunsStart,
      impact: 'Lists are folded by the schedule only, so they are read more slowly. They are still exact.',
      runbook: 'the-table-stream-is-read-late',
    });
    page('callers-refused', refusalRate(watched), {
      threshold: 50,
      periods: 3,
      impact: 'Half of the requests or more are refused: callers cannot sign in, or use a wrong address or token.',
      runbook: 'all-callers-are-refused',
    });
    ticket('requests-throttled', serviceMetric(watched, 'RequestsThrottled'), {
      threshold: 300, // one a second
      ...twiceInThree,
      impact: 'Callers get 429: a domain is at its limit, or uses up a route for all.',
      runbook: 'a-domain-uses-up-a-route',
    });
    page('key-changes', messagesIn(keyChangesName(stage)), {
      impact:
        'A KMS key of the stage was disabled, or will be deleted. What it has sealed cannot be opened, or evidence not be signed.',
      runbook: 'a-key-is-disabled',
    });
    ticket('collateral-expires', serviceMetric(watched, 'CollateralDays', Stats.MINIMUM).with(ofCollection), {
      threshold: 8, // whole days that are left: fewer than 7 and a part
      isTooLittle: true,
      isOptional: true, // a stage without documents writes nothing
      impact:
        'Nothing yet. When the documents of Intel or AMD run out, no run with an attestation policy starts on the CVMs that need them.',
      runbook: 'collateral-runs-out',
    });
    page('content-missing', serviceMetric(watched, 'ContentMissing'), {
      impact: 'The content of an asset is missing. Runs that need it fail.',
      runbook: 'content-is-missing',
    });
    page('throttled-steps', throttledSteps(watched), {
      threshold: thresholdWithRetries,
      periods: 2,
      impact: 'Commands reach CVMs late, and runs look active for longer.',
      runbook: 'functions-are-throttled',
    });
    ticket('concurrency', unreservedConcurrency(), {
      threshold: Math.floor((stage.accountConcurrency - reservedExecutions) * 0.8), // of those that no function reserves
      impact: 'Nothing yet. When no more functions can run at the same time, requests are answered 503.',
      runbook: 'functions-are-throttled',
    });
    page('conflicts', serviceMetric(watched, 'ConflictsRetried'), {
      threshold: 3_000, // 10 retries a second: each waits up to a second, so they hold several functions all the time
      periods: 2,
      impact: 'Changes are slow, and some are answered 503.',
      runbook: 'changes-conflict',
    });
    ticket('purge-backlog', backlogOf('maintenance/purge'), {
      threshold: 1_000,
      periods: 3,
      impact: 'No immediate effect. Deleted data stays in storage longer than usual.',
      runbook: 'a-backlog-grows',
    });
    page('list-backlog', serviceMetric(watched, 'ListBacklog', Stats.MAXIMUM), {
      threshold: 5_000, // 500 changes a second leave up to 2,000
      periods: 2,
      impact: 'Lists are read more slowly. From 20,000 changes on, further ones are answered 503.',
      runbook: 'lists-are-folded-late',
    });
    ticket('table-stream-late', functionMetric(watched, 'maintenance/follow-table', 'IteratorAge', Stats.MAXIMUM), {
      threshold: 5 * 60_000, // milliseconds. Records wait for the batch before, a second or two
      periods: 2,
      impact: 'Lists are folded by the schedule only, so they are read more slowly. They are still exact.',
      runbook: 'the-table-stream-is-read-late',
    });
    ticket('list-drift', serviceMetric(watched, 'ListDrift'), {
      impact: 'A list or its total may be wrong by some members.',
      runbook: 'a-list-differs-from-its-rows',
    });
    ticket('log-entries-wait', serviceMetric(watched, 'LogEntryAge', Stats.MAXIMUM), {
      threshold: 5 * 60_000, // milliseconds. Entries are integrated within seconds
      impact: 'Runs that ended have no evidence yet.',
      runbook: 'the-log-does-not-grow',
    });
    ticket('log-rebuilt', serviceMetric(watched, 'LogRebuilt'), {
      threshold: 1,
      impact: 'The table is older than the published log. Runs that ended again since have no evidence.',
      runbook: 'the-log-is-newer-than-the-table',
    });
    ticket('content-backlog', backlogOf('maintenance/collect-content').with(ofCollection), {
      threshold: 1_000,
      impact: 'Uploads whose notification was lost stay pending for longer. Replaced content is still stored.',
      runbook: 'a-backlog-grows',
    });
    page('api-failures', apiFailureRate(watched), {
      threshold: 5,
      periods: 2,
      impact: 'One request in twenty fails, or more.',
      runbook: 'the-api-fails',
    });
    page('unanswered-requests', unansweredRequests(watched), {
      threshold: thresholdWithRetries,
      periods: 2,
      impact: 'Some requests are answered 5xx because a function does not start, times out or is throttled.',
      runbook: 'functions-do-not-answer',
    });
    page('api-latency', slowRequestRate(watched, 3000), {
      threshold: 1,
      periods: 3,
      impact: 'One request in a hundred takes longer than 3 seconds.',
      runbook: 'the-api-is-slow',
    });
    const lapses = {
      failed: executionMetric(watched, 'ExecutionsFailed'),
      timedOut: executionMetric(watched, 'ExecutionsTimedOut'),
      aborted: executionMetric(watched, 'ExecutionsAborted'),
      throttled: executionMetric(watched, 'ExecutionThrottled'),
    };
    ticket('run-lifecycle', sumOf(lapses), {
      impact: 'A run ended as failed, even if its CVM succeeded.',
      runbook: 'the-run-lifecycle-fails',
    });
    page('failed-runs', failedRuns(watched), {
      threshold: 5,
      impact: 'Most runs fail, on their CVMs or before a CVM has taken them.',
      runbook: 'runs-fail',
    });
    ticket('heartbeats-throttled', serviceMetric(watched, 'HeartbeatsThrottled'), {
      ...twiceInThree,
      impact: 'Nothing yet. With several times as many active runs, some fail as silent although their CVMs work.',
      runbook: 'heartbeats-are-throttled',
    });
    ticket('sweep-backlog', backlogOf('lifecycle/sweep-runs'), {
      threshold: 3_000, // 15 minutes of a sweep each minute
      periods: 3,
      impact: 'Runs that nothing takes to their end look active for a quarter of an hour or longer.',
      runbook: 'a-backlog-grows',
    });
    ticket('waits-refused', serviceMetric(watched, 'WaitsRefused'), {
      threshold: 300, // one a second, as a client without a slot asks again
      ...twiceInThree,
      impact: 'CVMs and pages that wait are answered at once. They ask again each second, which costs more and takes executions.',
      runbook: 'requests-are-not-held',
    });
    ticket('undelivered', undeliveredEvents(watched), {
      impact: 'An upload stays pending, or a run or a purge waits for the next sweep.',
      runbook: 'events-are-undelivered',
    });
    const throttles = { reads: tableMetric(watched, 'ReadThrottleEvents'), writes: tableMetric(watched, 'WriteThrottleEvents') };
    page('table-throttles', sumOf(throttles), {
      ...twiceInThree, // the table grows for a moment so, and the SDK repeats
      impact: 'Requests are slow, and some are answered 503.',
      runbook: 'the-table-throttles',
    });
    if (stage.copiesVaultArn !== undefined) {
      ticket('copies-silent', finishedCopies(watched), {
        threshold: 3, // table, content and log
        isTooLittle: true,
        periods: 2,
        impact: 'Nothing yet. If the Region is gone, more than a day is lost.',
        runbook: 'a-schedule-does-not-run',
      });
    }
    if (stage.domain?.certificateArn !== undefined) {
      ticket('domain-certificate', daysOfCertificate(stage.domain.certificateArn), {
        threshold: 30,
        isTooLittle: true,
        isOptional: true, // ACM writes it twice a day
        impact: 'Nothing yet. When the certificate of the domain expires, no caller can connect.',
        runbook: 'a-certificate-expires',
      });
    }
    const { gateway, eventBus, canary, mail } = stage;
    if (gateway) addGatewayAlarms(add, watched, gateway);
    if (eventBus) addBusAlarms(add, watched);
    if (canary) addCanaryAlarms(add, watched, canary);
    if (mail) addMailAlarms(add);
  }
}
