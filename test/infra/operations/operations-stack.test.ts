import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { functionNames } from '../../../infra/bundles/function-names.ts';
import { nameIn } from '../../../infra/stages.ts';
import { routes } from '../../../shared/endpoints/endpoints.ts';
import type { Route } from '../../../shared/http/route.ts';
import { tasks } from '../../../shared/tasks/tasks.ts';
import { flat, synthesize } from '../../support/synthesized-stages.ts';

interface Metric {
  Namespace: string;
  MetricName: string;
  Dimensions?: { Name: string; Value: unknown }[];
}

interface AlarmProperties extends Partial<Metric> {
  AlarmName: string;
  AlarmDescription: string;
  AlarmActions: unknown[];
  OKActions: unknown[];
  Metrics?: { Expression?: string; MetricStat?: { Metric: Metric } }[];
  TreatMissingData: string;
}

const rows = new Map([...routes, ...tasks].map((row) => [row.name, row]));
const runbook = readFileSync(new URL('../../../docs/runbook.md', import.meta.url), 'utf8');
const headings = [...runbook.matchAll(/^## (.+)$/gm)].map(([, heading = '']) => heading.toLowerCase().replaceAll(' ', '-'));

/** Lists the metrics that an alarm watches, alone or in an expression. */
function metricsOf(alarm: AlarmProperties | undefined): Metric[] {
  if (!alarm) return [];
  const { Namespace, MetricName, Dimensions, Metrics } = alarm;
  if (Namespace && MetricName) return [{ Namespace, MetricName, Dimensions: Dimensions ?? [] }];
  return (Metrics ?? []).flatMap(({ MetricStat }) => (MetricStat ? [MetricStat.Metric] : []));
}

function dimension({ Dimensions }: Metric, name: string): unknown {
  return Dimensions?.find(({ Name }) => Name === name)?.Value;
}

describe.each(synthesize())('the operations stack of $stage.name', ({ stage, stacks: { operations } }) => {
  const alarms = Object.values(operations.ofType<AlarmProperties>('AWS::CloudWatch::Alarm'));
  const named = (name: string) => alarms.find(({ AlarmName }) => AlarmName === nameIn(stage, name));

  it.each(functionNames)('has an alarm for %s that names what a user loses', (name) => {
    const alarm = named(name);
    expect(alarm?.AlarmDescription).toContain(rows.get(name)?.loses);
    const metrics = metricsOf(alarm);
    const ofRoute = routes.filter((route) => route.name === name).map(({ method, path }) => `5xx ${method} ${path}`);
    const watched = metrics.map((metric) =>
      ofRoute.length > 0
        ? `${metric.MetricName} ${String(dimension(metric, 'Method'))} ${String(dimension(metric, 'Resource'))}`
        : `${metric.MetricName} ${String(dimension(metric, 'FunctionName'))}`,
    );
    expect(watched).toEqual(ofRoute.length > 0 ? ofRoute : [`Errors ${nameIn(stage, name)}`]);
  });

  it('has alarms for the parts that the functions depend on', () => {
    const watched = alarms.flatMap(metricsOf).map(({ Namespace, MetricName }) => `${Namespace} ${MetricName}`);
    expect(watched).toEqual(
      expect.arrayContaining([
        'AWS/ApiGateway Latency',
        'AWS/DynamoDB ReadThrottleEvents',
        'AWS/DynamoDB WriteThrottleEvents',
        'AWS/Lambda Throttles',
        'AWS/SQS ApproximateNumberOfMessagesVisible',
        'AWS/States ExecutionsFailed',
        'AWS/States ExecutionsTimedOut',
        'AWS/States ExecutionsAborted',
      ]),
    );
  });

  it('has an alarm for slow requests in which endpoints that wait do not count', () => {
    const metrics = metricsOf(named('api-latency'));
    const waiting = routes.filter((route: Route) => route.waits).map(({ method, path }) => `${method} ${path}`);
    const ofRoutes = metrics.flatMap((metric) => {
      const [method, resource] = [dimension(metric, 'Method'), dimension(metric, 'Resource')];
      return typeof resource === 'string' ? [`${metric.MetricName} ${String(method)} ${resource}`] : [];
    });
    expect(waiting).toHaveLength(2);
    expect(ofRoutes.sort()).toEqual(['Count', 'Latency'].flatMap((name) => waiting.map((route) => `${name} ${route}`)).sort());
    expect(named('api-latency')?.Metrics?.map(({ Expression }) => Expression)).toContain(
      '100 * (FILL(slow, 0) - FILL(slow0, 0) - FILL(slow1, 0)) / (requests - FILL(requests0, 0) - FILL(requests1, 0))',
    );
    expect(metrics.length).toBeLessThanOrEqual(10); // the most that an alarm takes
  });

  it('has an alarm for a sweep that stops running', () => {
    const alarm = named('sweep-silent');
    expect(alarm?.TreatMissingData).toBe('breaching');
    expect(metricsOf(alarm).map((metric) => dimension(metric, 'FunctionName'))).toEqual([nameIn(stage, 'lifecycle/sweep-runs')]);
  });

  it('links every alarm to a heading of the runbook', () => {
    const linked = alarms.map(({ AlarmDescription }) => /docs\/runbook\.md#([a-z-]+)$/.exec(AlarmDescription)?.[1]);
    expect(linked).not.toContain(undefined);
    expect(headings).toEqual(expect.arrayContaining([...new Set(linked)]));
  });

  it('sends the start and end of every alarm to the topic, and the topic to the address of the stage', () => {
    for (const { AlarmActions, OKActions } of alarms) {
      expect(AlarmActions).toHaveLength(1);
      expect(OKActions).toEqual(AlarmActions);
    }
    const subscriptions = Object.values(operations.ofType<{ Endpoint: string }>('AWS::SNS::Subscription'));
    expect(subscriptions.map(({ Endpoint }) => Endpoint)).toEqual(stage.alarmEmail ? [stage.alarmEmail] : []);
  });

  it('lets alarms of this account publish to the topic, and denies requests without TLS', () => {
    const policies = Object.values(
      operations.ofType<{ Topics: unknown[]; PolicyDocument: { Statement: object[] } }>('AWS::SNS::TopicPolicy'),
    );
    const [topic] = Object.keys(operations.ofType('AWS::SNS::Topic'));
    expect(policies).toHaveLength(1);
    expect(policies[0]?.Topics).toEqual([{ Ref: topic }]);
    expect(policies[0]?.PolicyDocument.Statement).toEqual([
      expect.objectContaining({
        Effect: 'Deny',
        Principal: '*',
        Condition: { Bool: { 'aws:SecureTransport': 'false' } },
      }),
      {
        Sid: 'AllowAlarms',
        Effect: 'Allow',
        Principal: { Service: 'cloudwatch.amazonaws.com' },
        Action: 'sns:Publish',
        Resource: { Ref: topic },
        Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
      },
    ]);
  });

  it('has a dashboard that reads the log of every function', () => {
    const [dashboard] = Object.values(operations.ofType<{ DashboardBody: unknown }>('AWS::CloudWatch::Dashboard'));
    const body = flat(dashboard?.DashboardBody);
    for (const name of functionNames) expect(body).toContain(`/aws/lambda/${nameIn(stage, name)}`);
  });

  it('shows failures by the field `domain` that endpoints and tasks log', () => {
    const [dashboard] = Object.values(operations.ofType<{ DashboardBody: unknown }>('AWS::CloudWatch::Dashboard'));
    const body = flat(dashboard?.DashboardBody);
    expect(body).toContain('by domain, name, code');
    expect(body).toContain('fields @timestamp, domain, ');
    expect(body).not.toContain('domainID');
  });
});
