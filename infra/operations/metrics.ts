import { MathExpression, Metric, Stats, type IMetric } from 'aws-cdk-lib/aws-cloudwatch';
import type { metricUnits } from '../../shared/metrics.ts';
import { routes, type RouteName } from '../../shared/endpoints/endpoints.ts';
import type { Route } from '../../shared/http/route.ts';
import type { FunctionName } from '../bundles/function-names.ts';
import { metricsNamespace } from '../metrics-namespace.ts';
import { nameIn, type Stage } from '../stages.ts';
import { period } from './service-alarm.ts';

/** What is watched. Functions go by their names, so that one can be removed without this stack standing in the way. */
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

/** Functions of the whole account and region share one limit, so this counts all of them. */
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

/** Share of the requests that the API answers with 5xx, in percent. */
export function apiFailureRate(watched: Watched): IMetric {
  return new MathExpression({
    expression: '100 * failed / requests',
    usingMetrics: { failed: apiMetric(watched, '5xx'), requests: apiMetric(watched, 'Count') },
    label: '5xx in percent',
    period,
  });
}

/** How often an endpoint answers 5xx, be it that its function says so, fails, is throttled or takes too long. */
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

/** A metric that the service emits itself. */
export function serviceMetric(
  { stage }: Watched,
  metricName: keyof typeof metricUnits,
  statistic: string = Stats.SUM,
  dimensions: Record<string, string> = {},
): Metric {
  const dimensionsMap = { stage: stage.name, ...dimensions };
  return new Metric({ namespace: metricsNamespace, metricName, dimensionsMap, statistic, period });
}
