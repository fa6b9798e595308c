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

/** The number of 5xx responses of an endpoint. Its function returned them, failed, was throttled or timed out. */
export function endpointFailures(watched: Watched, name: RouteName): IMetric {
  const metrics = routes.filter((route) => route.name === name).map((route) => routeFailures(watched, route));
  const [only, ...others] = metrics;
  if (only && others.length === 0) return only;
  return new MathExpression({
    expression: metrics.map((_, index) => `route${index}`).join(' + '),
    usingMetrics: Object.fromEntries(metrics.map((metric, index) => [`route${index}`, metric])),
    label: name,
    period,
  });
}

function routeFailures({ apiId }: Watched, { method, path, name }: Route): Metric {
  return new Metric({
    namespace: 'AWS/ApiGateway',
    metricName: '5xx',
    dimensionsMap: { ApiId: apiId, Stage: '$default', Method: method, Resource: path },
    statistic: Stats.SUM,
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
