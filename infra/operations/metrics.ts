import { Duration } from 'aws-cdk-lib';
import { MathExpression, Metric, Stats, type IMetric } from 'aws-cdk-lib/aws-cloudwatch';
import type { MetricName } from '../../shared/runtime/log.ts';
import { routes, type RouteName } from '../../shared/endpoints/endpoints.ts';
import type { Route } from '../../shared/http/route.ts';
import { tasks } from '../../shared/tasks/tasks.ts';
import type { FunctionName } from '../service/service-function.ts';
import { metricsNamespace, nameIn, type Stage } from '../stages/stage.ts';
import { pipeName } from '../bus/stage-bus.ts';
import { period } from './service-alarm.ts';

/**
 * The resources that alarms and the dashboard monitor. Functions are referred to by name, so that the monitoring stack never
 * blocks the removal of a function.
 */
export interface Watched {
  stage: Stage;
  apiId: string;
  stateMachineArn: string;
  tableName: string;
  /** The concurrent executions that the functions of all stages in the account reserve. */
  reservedExecutions: number;
}

export function functionMetric(
  { stage }: Watched,
  name: FunctionName | 'canary',
  metricName: 'Errors' | 'Invocations' | 'Duration' | 'Throttles' | 'IteratorAge',
  statistic: string = metricName === 'Duration' ? Stats.percentile(99) : Stats.SUM,
): Metric {
  return metricIn('AWS/Lambda', metricName, { FunctionName: nameIn(stage, name) }, statistic).with({ label: name });
}

function metricIn(namespace: string, metricName: string, dimensionsMap: Record<string, string>, statistic: string = Stats.SUM) {
  return new Metric({ namespace, metricName, dimensionsMap, statistic, period });
}

/** Returns a metric that is computed from others. @param usingMetrics the others by their names in the expression */
function computed(label: string, expression: string, usingMetrics: Record<string, IMetric>, each = period): MathExpression {
  return new MathExpression({ expression, usingMetrics, label, period: each });
}

/**
 * Counts the calls of steps of the run lifecycle that Lambda refused. Refused scheduled tasks and checks of uploads are harmless.
 * Lambda's own sum of the account would count other stages, too.
 */
export function throttledSteps(watched: Watched): IMetric {
  const steps = tasks.filter(({ trigger }) => trigger === 'state machine' || trigger === 'execution status');
  const metrics = steps.map(({ name }, index) => [`step${index}`, functionMetric(watched, name, 'Throttles')] as const);
  return sumOf(Object.fromEntries(metrics), 'Throttled steps');
}

/**
 * Returns the metric of the most Lambda executions at the same time, counting only functions of the account without reserved
 * concurrency.
 */
export function unreservedConcurrency(): Metric {
  return metricIn('AWS/Lambda', 'UnreservedConcurrentExecutions', {}, Stats.MAXIMUM);
}

/**
 * Returns a metric that is 1 if runs were started in a period of 15 minutes, but a reader of the table's stream was never called,
 * and 0 otherwise. Each run writes to the table. @param called the metric of the reader's calls
 */
export function silenceDuringRuns(watched: Watched, called: Metric): IMetric {
  const each = Duration.minutes(15);
  const started = executionMetric(watched, 'ExecutionsStarted').with({ period: each });
  const using = { started, called: called.with({ period: each }) };
  return computed('runs that nothing has read', 'IF(FILL(started, 0) > 0 AND FILL(called, 0) == 0, 1, 0)', using, each);
}

/**
 * Returns the metric of the percentage of requests that are answered 4xx. It is 0 for fewer than 100 requests, of which one caller
 * with a wrong token could make most.
 */
export function refusalRate(watched: Watched): IMetric {
  const using = { refused: apiMetric(watched, '4xx'), requests: apiMetric(watched, 'Count') };
  return computed('4xx in percent', 'IF(requests >= 100, 100 * refused / requests, 0)', using);
}

export function apiMetric(
  { apiId }: Watched,
  metricName: 'Count' | '4xx' | '5xx' | 'Latency',
  statistic: string = Stats.SUM,
): Metric {
  return metricIn('AWS/ApiGateway', metricName, { ApiId: apiId }, statistic);
}

/**
 * Returns the metric of the percentage of requests that the API answers with 5xx. A period with few requests counts like one with
 * many, for quiet stages.
 */
export function apiFailureRate(watched: Watched): IMetric {
  const using = { failed: apiMetric(watched, '5xx'), requests: apiMetric(watched, 'Count') };
  return computed('5xx in percent', '100 * failed / requests', using);
}

/**
 * Returns the metric of the percentage of requests that take longer than the given time, without requests to functions that wait
 * for changes because their callers ask for it. An alarm takes no more than 10 metrics. The metric is 0 for fewer than 100 requests: one would be more than 1 %, and the API and functions may count a
 * request in different periods.
 */
export function slowRequestRate(watched: Watched, milliseconds: number): IMetric {
  const slower = `TC(${milliseconds}:)`;
  const waiting = [...new Set(routes.filter((route: Route) => route.waits && route.query).map(({ name }) => name))];
  const withoutWaits = (all: string, name: string) => [all, ...waiting.map((_, index) => `FILL(${name}${index}, 0)`)].join(' - ');
  const ofWaiting = (id: string, metricOf: (name: RouteName) => Metric) =>
    Object.fromEntries(waiting.map((name, index) => [`${id}${index}`, metricOf(name)]));
  const slow = withoutWaits('FILL(slow, 0)', 'slow');
  const requests = withoutWaits('requests', 'requests');
  const expression = `IF((${requests}) >= 100, 100 * (${slow}) / (${requests}), 0)`;
  return computed(`slower than ${milliseconds / 1000} s in percent`, expression, {
    slow: apiMetric(watched, 'Latency', slower),
    requests: apiMetric(watched, 'Count'),
    ...ofWaiting('slow', (name) => functionMetric(watched, name, 'Duration', slower)),
    ...ofWaiting('requests', (name) => functionMetric(watched, name, 'Invocations')),
  });
}

/**
 * Returns the sum of metrics, each of which may have no value in a period. Without `FILL`, the sum would have a value only where
 * all metrics have one.
 */
export function sumOf(usingMetrics: Record<string, IMetric>, label?: string): IMetric {
  const expression = Object.keys(usingMetrics)
    .map((id) => `FILL(${id}, 0)`)
    .join(' + ');
  return new MathExpression({ expression, usingMetrics, period, ...(label === undefined ? {} : { label }) });
}

/**
 * Returns the metric of the 5xx responses that no function wrote. The metric is 0 if functions wrote nine in ten of the 5xx
 * responses, because the API and functions may count a request in different periods.
 */
export function unansweredRequests(watched: Watched): IMetric {
  const using = { failed: apiMetric(watched, '5xx'), answered: serviceMetric(watched, 'RequestsFailed') };
  const expression = 'IF(FILL(answered, 0) < 0.9 * failed, failed - FILL(answered, 0), 0)';
  return computed('5xx without an answer of a function', expression, using);
}

type ExecutionMetric =
  'ExecutionsStarted' | 'ExecutionsFailed' | 'ExecutionsTimedOut' | 'ExecutionsAborted' | 'ExecutionThrottled';

export function executionMetric({ stateMachineArn }: Watched, metricName: ExecutionMetric): Metric {
  return metricIn('AWS/States', metricName, { StateMachineArn: stateMachineArn });
}

/** Returns the metric of how many more runs failed in an hour than completed. Runs that users stopped do not count. */
export function failedRuns(watched: Watched): IMetric {
  const each = Duration.hours(1);
  const ended = (outcome: string) => serviceMetric(watched, 'RunsEnded', Stats.SUM, { outcome }).with({ period: each });
  const using = { failed: ended('failed'), completed: ended('completed') };
  return computed('more failed runs than completed ones', 'failed - FILL(completed, 0)', using, each);
}

export function undeliveredEvents({ stage }: Watched): Metric {
  return messagesIn(nameIn(stage, 'undelivered'));
}

export function messagesIn(queueName: string): Metric {
  return metricIn('AWS/SQS', 'ApproximateNumberOfMessagesVisible', { QueueName: queueName }, Stats.MAXIMUM);
}

/** Returns the metric of the copies of the table, the content and the log that AWS Backup has finished in a day. */
export function finishedCopies({ stage }: Watched): Metric {
  const vault = { BackupVaultName: nameIn(stage, 'copies') };
  return metricIn('AWS/Backup', 'NumberOfCopyJobsCompleted', vault).with({ period: Duration.days(1) });
}

export function daysOfCertificate(CertificateArn: string): Metric {
  return metricIn('AWS/CertificateManager', 'DaysToExpiry', { CertificateArn }, Stats.MINIMUM).with({ period: Duration.days(1) });
}

/** Returns the metric of the share of mail that bounces. SES counts all mail of the account. */
export function bounceRate(): Metric {
  return metricIn('AWS/SES', 'Reputation.BounceRate', {}, Stats.MAXIMUM).with({ period: Duration.hours(1) });
}

/** Returns a metric of the pipe to the event bus: the number of its calls, or of failed deliveries of events. */
export function pipeMetric(
  { stage }: Watched,
  metricName: 'ExecutionFailed' | 'ExecutionPartiallyFailed' | 'ExecutionTimeout' | 'ExecutionThrottled' | 'Invocations',
): Metric {
  return metricIn('AWS/EventBridge/Pipes', metricName, { PipeName: pipeName(stage) });
}

export function tableMetric({ tableName }: Watched, metricName: 'ReadThrottleEvents' | 'WriteThrottleEvents'): Metric {
  return metricIn('AWS/DynamoDB', metricName, { TableName: tableName });
}

/** Returns the metric of the largest share of its processor or memory that a task of the gateway uses, in percent. */
export function gatewayTaskMetric({ stage }: Watched, metricName: 'CPUUtilization' | 'MemoryUtilization'): Metric {
  const name = nameIn(stage, 'gateway');
  return metricIn('AWS/ECS', metricName, { ClusterName: name, ServiceName: name }, Stats.MAXIMUM);
}

/**
 * Returns the metric of the number of CVMs that are connected to the gateways. Each gateway writes its own number once a minute,
 * so the sum of 5 minutes is divided by 5.
 */
export function connectedCvms(watched: Watched): IMetric {
  return computed('connected', 'written / 5', { written: serviceMetric(watched, 'ConnectedCvms') });
}

/** Returns a metric that the functions of the service and its gateway emit themselves. */
export function serviceMetric(
  { stage }: Watched,
  metricName: MetricName,
  statistic: string = Stats.SUM,
  dimensions: Record<string, string> = {},
): Metric {
  return metricIn(metricsNamespace, metricName, { stage: stage.name, ...dimensions }, statistic);
}
