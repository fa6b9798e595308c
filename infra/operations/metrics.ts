import { MathExpression, Metric, Stats, type IMetric } from 'aws-cdk-lib/aws-cloudwatch';
import type { metricUnits } from '../../shared/metrics.ts';
import { routes, type RouteName } from '../../shared/endpoints/endpoints.ts';
import type { Route } from '../../shared/http/route.ts';
import type { FunctionName } from '../bundles/function-names.ts';
import { metricsNamespace } from '../metrics-namespace.ts';
import { nameIn, type Stage } from '../stages.ts';
import { period } from './service-alarm.ts';

/** The monitored resources. Functions are referred to by name, so that this stack never blocks the removal of one. */
export interface Watched {
  stage: Stage;
  apiId: string;
  stateMachineArn: string;
  tableName: string;
}

export function functionMetric(
  { stage }: Watched,
  name: FunctionName,
  metricName: 'Errors' | 'Invocations' | 'Duration',
): Metric {
  const statistic = metricName === 'Duration' ? Stats.percentile(99) : Stats.SUM;
  return new Metric({
    namespace: 'AWS/Lambda',
    metricName,
    dimensionsMap: { FunctionName: nameIn(stage, name) },
    statistic,
    period,
    label: name,
  });
}

/** Counts all functions of the account and region, because they share one limit. */
export function throttledFunctions(): Metric {
  return new Metric({ namespace: 'AWS/Lambda', metricName: 'Throttles', statistic: Stats.SUM, period });
}

export function apiMetric(
  { apiId }: Watched,
  metricName: 'Count' | '4xx' | '5xx' | 'Latency',
  statistic: string = Stats.SUM,
): Metric {
  return new Metric({ namespace: 'AWS/ApiGateway', metricName, dimensionsMap: { ApiId: apiId }, statistic, period });
}

/** The percentage of requests that the API answers with 5xx. */
export function apiFailureRate(watched: Watched): IMetric {
  return new MathExpression({
    expression: '100 * failed / requests',
    usingMetrics: { failed: apiMetric(watched, '5xx'), requests: apiMetric(watched, 'Count') },
    label: '5xx in percent',
    period,
  });
}

/** The percentage of requests that take longer than this. Endpoints with the parameter `wait` do not count. */
export function slowRequestRate(watched: Watched, milliseconds: number): IMetric {
  const slower = `TC(${milliseconds}:)`;
  const waiting = routes.filter((route: Route) => route.waits);
  const withoutWaits = (all: string, name: string) => [all, ...waiting.map((_, index) => `FILL(${name}${index}, 0)`)].join(' - ');
  return new MathExpression({
    expression: `100 * (${withoutWaits('FILL(slow, 0)', 'slow')}) / (${withoutWaits('requests', 'requests')})`,
    usingMetrics: {
      slow: apiMetric(watched, 'Latency', slower),
      requests: apiMetric(watched, 'Count'),
      ...Object.fromEntries(waiting.map((route, index) => [`slow${index}`, routeMetric(watched, route, 'Latency', slower)])),
      ...Object.fromEntries(waiting.map((route, index) => [`requests${index}`, routeMetric(watched, route, 'Count')])),
    },
    label: `slower than ${milliseconds / 1000} s in percent`,
    period,
  });
}

/** The number of 5xx responses of an endpoint. Its function returned them, failed, was throttled or timed out. */
export function endpointFailures(watched: Watched, name: RouteName): IMetric {
  const metrics = routes.filter((route) => route.name === name).map((route) => routeMetric(watched, route, '5xx'));
  const [only, ...others] = metrics;
  if (only && others.length === 0) return only;
  return new MathExpression({
    expression: metrics.map((_, index) => `route${index}`).join(' + '),
    usingMetrics: Object.fromEntries(metrics.map((metric, index) => [`route${index}`, metric])),
    label: name,
    period,
  });
}

function routeMetric(
  { apiId }: Watched,
  { method, path, name }: Route,
  metricName: 'Count' | '5xx' | 'Latency',
  statistic: string = Stats.SUM,
): Metric {
  return new Metric({
    namespace: 'AWS/ApiGateway',
    metricName,
    dimensionsMap: { ApiId: apiId, Stage: '$default', Method: method, Resource: path },
    statistic,
    period,
    label: name,
  });
}

type ExecutionMetric = 'ExecutionsFailed' | 'ExecutionsTimedOut' | 'ExecutionsAborted' | 'ExecutionThrottled';

export function executionMetric({ stateMachineArn }: Watched, metricName: ExecutionMetric): Metric {
  return new Metric({
    namespace: 'AWS/States',
    metricName,
    dimensionsMap: { StateMachineArn: stateMachineArn },
    statistic: Stats.SUM,
    period,
  });
}

export function undeliveredEvents({ stage }: Watched): Metric {
  return new Metric({
    namespace: 'AWS/SQS',
    metricName: 'ApproximateNumberOfMessagesVisible',
    dimensionsMap: { QueueName: nameIn(stage, 'undelivered') },
    statistic: Stats.MAXIMUM,
    period,
  });
}

export function tableMetric({ tableName }: Watched, metricName: 'ReadThrottleEvents' | 'WriteThrottleEvents'): Metric {
  return new Metric({
    namespace: 'AWS/DynamoDB',
    metricName,
    dimensionsMap: { TableName: tableName },
    statistic: Stats.SUM,
    period,
  });
}

/** A metric that the service's functions emit. */
export function serviceMetric(
  { stage }: Watched,
  metricName: keyof typeof metricUnits,
  statistic: string = Stats.SUM,
  dimensions: Record<string, string> = {},
): Metric {
  const dimensionsMap = { stage: stage.name, ...dimensions };
  return new Metric({ namespace: metricsNamespace, metricName, dimensionsMap, statistic, period });
}
