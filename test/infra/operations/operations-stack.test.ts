import { globSync, readFileSync } from 'node:fs';
import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { functionNames } from '../../../infra/service/service-function.ts';
import { BudgetStack, OperationsStack } from '../../../infra/operations/operations-stack.ts';
import { reservedInAccount } from '../../../infra/service/reserved-concurrency.ts';
import { nameIn, targetsOf, webhooksOf, type Stage } from '../../../infra/stages/stage.ts';
import { routes } from '../../../shared/endpoints/endpoints.ts';
import type { Route } from '../../../shared/http/route.ts';
import { metricUnits } from '../../../shared/runtime/log.ts';
import { tasks, schedules } from '../../../shared/tasks/tasks.ts';
import {
  annotated,
  errorsBeside,
  errorsOf,
  flat,
  fullStage,
  synthesize,
  type SynthesizedStack,
} from '../../support/synthesized-stages.ts';

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
  Metrics?: { Expression?: string; MetricStat?: { Metric: Metric; Period: number } }[];
  Period?: number;
  TreatMissingData: string;
  ComparisonOperator: string;
  Threshold: number;
}

interface BudgetProperties {
  Budget: { BudgetName: string };
  NotificationsWithSubscribers?: {
    Notification: { NotificationType: string; Threshold: number };
    Subscribers: { Address: string }[];
  }[];
}

interface RuleProperties {
  EventPattern: unknown;
  Targets: { DeadLetterConfig: { Arn: unknown }; InputTransformer: { InputTemplate: string } }[];
}

const rows = new Map([...routes, ...tasks].map((row) => [row.name, row]));
const runbook = readFileSync(new URL('../../../docs/runbook.md', import.meta.url), 'utf8');
const rehearsal = readFileSync(new URL('../../../docs/rehearsal.md', import.meta.url), 'utf8');
const headings = [...runbook.matchAll(/^## (.+)$/gm)].map(([, heading = '']) => heading.toLowerCase().replaceAll(' ', '-'));

/** Lists the metrics that an alarm watches, alone or in an expression. */
function metricsOf(alarm: AlarmProperties | undefined): Metric[] {
  if (!alarm) return [];
  const { Namespace, MetricName, Dimensions, Metrics } = alarm;
  if (Namespace && MetricName) return [{ Namespace, MetricName, Dimensions: Dimensions ?? [] }];
  return (Metrics ?? []).flatMap(({ MetricStat }) => (MetricStat ? [MetricStat.Metric] : []));
}

/** Returns the first word of an alarm's text. */
function severityOf(text: string): string {
  return text.split(': ')[0] ?? '';
}

function alarmsOf(operations: SynthesizedStack): AlarmProperties[] {
  return Object.values(operations.ofType<AlarmProperties>('AWS::CloudWatch::Alarm'));
}

/** Returns the period of an alarm of one metric, in seconds. */
function periodOf(alarm: AlarmProperties | undefined): number | undefined {
  return alarm?.Period ?? alarm?.Metrics?.[0]?.MetricStat?.Period;
}

function dimension({ Dimensions }: Metric, name: string): unknown {
  return Dimensions?.find(({ Name }) => Name === name)?.Value;
}

const synthesized = synthesize();

describe.each(synthesized)('the operations stack of $stage.name', ({ stage, stacks: { operations, budget: budgetStack } }) => {
  const alarms = alarmsOf(operations);
  const named = (name: string) => alarms.find(({ AlarmName }) => AlarmName === nameIn(stage, name));

  it.each(functionNames)('has an alarm for %s that names what a user loses', (name) => {
    const alarm = named(name);
    expect(alarm?.AlarmDescription).toContain(rows.get(name)?.impact);
    const isEndpoint = routes.some((route) => route.name === name);
    expect(metricsOf(alarm)).toEqual([
      isEndpoint
        ? {
            Namespace: 'ComputationManagement',
            MetricName: 'RequestsFailed',
            Dimensions: [
              { Name: 'endpoint', Value: name },
              { Name: 'stage', Value: stage.name },
            ],
          }
        : { Namespace: 'AWS/Lambda', MetricName: 'Errors', Dimensions: [{ Name: 'FunctionName', Value: nameIn(stage, name) }] },
    ]);
  });

  it('has an alarm for failures that no function answered', () => {
    const watched = metricsOf(named('unanswered-requests')).map(({ Namespace, MetricName }) => `${Namespace} ${MetricName}`);
    expect(watched.sort()).toEqual(['AWS/ApiGateway 5xx', 'ComputationManagement RequestsFailed']);
  });

  it('has a budget for a month, apart from the alarms, that tells the addresses of the stage and its first existing topic', () => {
    expect(Object.keys(operations.ofType('AWS::Budgets::Budget'))).toEqual([]);
    const [budget] = Object.values(budgetStack?.ofType<BudgetProperties>('AWS::Budgets::Budget') ?? {});
    expect(budget?.Budget).toMatchObject({
      BudgetLimit: { Amount: stage.monthlyBudgetInDollars, Unit: 'USD' },
      CostFilters: { TagKeyValue: [`user:stage$${stage.name}`] },
      TimeUnit: 'MONTHLY',
    });
    const told = (budget?.NotificationsWithSubscribers ?? []).map(({ Notification, Subscribers }) => ({
      what: `${Notification.NotificationType} ${Notification.Threshold}`,
      who: Subscribers.map(({ Address }) => Address),
    }));
    const who = targetsOf(stage).flatMap((target) => {
      if ('email' in target) return [target.email];
      return 'topicArn' in target ? [target.topicArn] : [];
    });
    expect(told).toEqual(who.length === 0 ? [] : ['ACTUAL 80', 'FORECASTED 100'].map((what) => ({ what, who })));
  });

  it('has alarms for the parts that the functions depend on', () => {
    const watched = alarms.flatMap(metricsOf).map(({ Namespace, MetricName }) => `${Namespace} ${MetricName}`);
    expect(watched).toEqual(
      expect.arrayContaining([
        'AWS/ApiGateway Latency',
        'AWS/DynamoDB ReadThrottleEvents',
        'AWS/DynamoDB WriteThrottleEvents',
        'AWS/Lambda Throttles',
        'ComputationManagement ConflictsRetried',
        'ComputationManagement Waiting',
        'AWS/SQS ApproximateNumberOfMessagesVisible',
        'AWS/States ExecutionsFailed',
        'AWS/States ExecutionsTimedOut',
        'AWS/States ExecutionsAborted',
      ]),
    );
  });

  it.runIf(stage.eventBus)('has an alarm for batches of events that failed as a whole or in part', () => {
    const watched = alarms.flatMap(metricsOf).map(({ Namespace, MetricName }) => `${Namespace} ${MetricName}`);
    expect(watched).toContain('AWS/EventBridge/Pipes ExecutionFailed');
    expect(watched).toContain('AWS/EventBridge/Pipes ExecutionPartiallyFailed');
  });

  it('has an alarm before the concurrency of the account is used up, in which the reservations of other teams do not count', () => {
    const reserved = reservedInAccount(stage, [stage]);
    expect(named('concurrency')?.Threshold).toBe(Math.floor(0.8 * (stage.accountConcurrency - reserved)));
    expect(metricsOf(named('concurrency'))).toEqual([
      { Namespace: 'AWS/Lambda', MetricName: 'UnreservedConcurrentExecutions', Dimensions: [] },
    ]);
  });

  it('adds up metrics even if one of them has no value, as those of failures have none without a failure', () => {
    const expressions = alarms.flatMap(({ Metrics = [] }) => Metrics.flatMap(({ Expression }) => Expression ?? []));
    const sums = expressions.filter((expression) => expression.includes('+'));
    expect(sums).toContain('FILL(reads, 0) + FILL(writes, 0)');
    for (const operand of sums.flatMap((sum) => sum.split(' + '))) expect(operand).toMatch(/^FILL\(\w+, 0\)$/);
  });

  it('has an alarm for refused calls of its own lifecycle steps, which ignores those of tasks and of other stages', () => {
    const metrics = metricsOf(named('throttled-steps'));
    expect(new Set(metrics.map(({ MetricName }) => MetricName))).toEqual(new Set(['Throttles']));
    const steps = functionNames.filter((name) => name.startsWith('lifecycle/') && !schedules.some((each) => each.name === name));
    expect(steps).toHaveLength(6);
    expect(metrics.map((metric) => dimension(metric, 'FunctionName')).sort()).toEqual(
      steps.map((name) => nameIn(stage, name)).sort(),
    );
  });

  it('looks at two calls of each task, however long they take, so that its alarm lasts as long as its failures', () => {
    const minutes: Record<string, number> = {
      'lifecycle/sweep-runs': 10,
      'maintenance/fold-lists': 10,
      'maintenance/purge': 30,
      'maintenance/collect-content': 30,
      'maintenance/receive-upload': 30,
    };
    for (const { name } of tasks) expect(periodOf(named(name)), name).toBe((minutes[name] ?? 5) * 60);
    expect(periodOf(named('content-backlog'))).toBe(30 * 60);
  });

  it('has 9 alarms with metric math, 11 with an event bus, and docs/rehearsal.md names each as not rehearsed', () => {
    const computed = alarms.filter(({ Metrics = [] }) => Metrics.some(({ Expression }) => Expression));
    const names = computed.map(({ AlarmName }) => AlarmName.slice(nameIn(stage, '').length));
    expect(names).toHaveLength(stage.eventBus ? 11 : 9);
    for (const name of names) expect(rehearsal).toContain(`\`${name}\``);
  });

  it('has an alarm for slow requests, of at least 100, in which endpoints that wait because callers ask for it do not count', () => {
    const metrics = metricsOf(named('api-latency'));
    const waiting = routes.filter((route: Route) => route.waits && route.query).map(({ name }) => nameIn(stage, name));
    const ofFunctions = metrics.flatMap((metric) => {
      const name = dimension(metric, 'FunctionName');
      return typeof name === 'string' ? [`${metric.MetricName} ${name}`] : [];
    });
    expect(waiting).toHaveLength(4);
    expect(ofFunctions.sort()).toEqual(
      ['Duration', 'Invocations'].flatMap((metric) => waiting.map((name) => `${metric} ${name}`)).sort(),
    );
    expect(metrics.filter((metric) => dimension(metric, 'Resource') !== undefined)).toEqual([]);
    const requests = ['requests', ...waiting.map((_, index) => `FILL(requests${index}, 0)`)].join(' - ');
    const slow = ['FILL(slow, 0)', ...waiting.map((_, index) => `FILL(slow${index}, 0)`)].join(' - ');
    expect(named('api-latency')?.Metrics?.map(({ Expression }) => Expression)).toContain(
      `IF((${requests}) >= 100, 100 * (${slow}) / (${requests}), 0)`,
    );
    expect(metrics.length).toBeLessThanOrEqual(10); // the most that an alarm takes
  });

  /** Returns whether AWS writes a metric, whatever the task does, and not the code of a function. */
  const isWrittenByAws = ({ Namespace }: Metric) => Namespace.startsWith('AWS/');

  it.each(schedules.map(({ name }) => name))(
    'tells of %s if its rule is disabled, may not call it, has no execution for it, or its code throws',
    (name) => {
      const ofFunction = alarms.filter((alarm) =>
        metricsOf(alarm).some((metric) => isWrittenByAws(metric) && dimension(metric, 'FunctionName') === nameIn(stage, name)),
      );
      const watching = (metricName: string) => ofFunction.filter((alarm) => metricsOf(alarm)[0]?.MetricName === metricName);
      // Lambda counts no invocation without a rule, without a permission, or that it throttles. It counts an error of the code.
      expect(watching('Invocations')).toMatchObject([{ TreatMissingData: 'breaching', Threshold: 1, EvaluationPeriods: 2 }]);
      expect(watching('Errors')).toHaveLength(1);
      expect(periodOf(watching('Invocations')[0])).toBe(periodOf(named(name)));
    },
  );

  const readers = { 'table-stream-silent': 'AWS/Lambda Invocations', 'events/silent': 'AWS/EventBridge/Pipes Invocations' };

  it.each(Object.entries(readers).slice(0, stage.eventBus ? 2 : 1))(
    'tells with %s of a stream that is not read while runs start, which Step Functions counts',
    (name, read) => {
      const alarm = named(name);
      expect(metricsOf(alarm).map(({ Namespace, MetricName }) => `${Namespace} ${MetricName}`)).toEqual([
        'AWS/States ExecutionsStarted',
        read,
      ]);
      expect(alarm).toMatchObject({ EvaluationPeriods: 8, DatapointsToAlarm: 2, Threshold: 1 });
      expect(alarm?.Metrics?.map(({ Expression }) => Expression)).toContain(
        'IF(FILL(started, 0) > 0 AND FILL(called, 0) == 0, 1, 0)',
      );
    },
  );

  it.runIf(stage.canary)('tells of a canary that fails or does not run, of which Lambda writes the figures', () => {
    expect(metricsOf(named('canary/fails'))).toMatchObject([{ Namespace: 'AWS/Lambda', MetricName: 'Errors' }]);
    expect(metricsOf(named('canary/silent'))).toMatchObject([{ Namespace: 'AWS/Lambda', MetricName: 'Invocations' }]);
    expect(named('canary/silent')?.TreatMissingData).toBe('breaching');
  });

  it('tells of figures that are too low, and of none only where something must write them', () => {
    const low = alarms.filter(({ ComparisonOperator }) => ComparisonOperator === 'LessThanThreshold');
    const tolerant = low.filter(({ TreatMissingData }) => TreatMissingData === 'notBreaching');
    const mayBeMissing = ['collateral-expires', 'domain-certificate', 'gateway/certificate'].map(
      (name) => named(name)?.AlarmName,
    );
    expect(tolerant.map(({ AlarmName }) => AlarmName).sort()).toEqual(mayBeMissing.filter((name) => name !== undefined).sort());
    expect(low.length).toBeGreaterThan(tolerant.length);
  });

  it('tells of requests that are almost all refused, of content that is missing, and of keys that are disabled or deleted', () => {
    expect(metricsOf(named('callers-refused')).map(({ MetricName }) => MetricName)).toEqual(['4xx', 'Count']);
    expect(metricsOf(named('content-missing'))).toMatchObject([{ MetricName: 'ContentMissing' }]);
    expect(metricsOf(named('key-changes')).map((metric) => dimension(metric, 'QueueName'))).toEqual([
      nameIn(stage, 'key-changes'),
    ]);
  });

  it('pages for 5xx that no function answered only if they are more than one in ten, in two periods', () => {
    const alarm = named('unanswered-requests');
    expect(alarm).toMatchObject({ EvaluationPeriods: 2, Threshold: 3 });
    expect(alarm?.Metrics?.map(({ Expression }) => Expression)).toContain(
      'IF(FILL(answered, 0) < 0.9 * failed, failed - FILL(answered, 0), 0)',
    );
  });

  it('links every alarm to a heading of the runbook', () => {
    const linked = alarms.map(({ AlarmDescription }) => /docs\/runbook\.md#([a-z-]+)$/.exec(AlarmDescription)?.[1]);
    expect(linked).not.toContain(undefined);
    expect(headings).toEqual(expect.arrayContaining([...new Set(linked)]));
  });

  it('begins the text of every alarm with its severity, and calls nothing urgent that has no effect yet', () => {
    const severities = new Map(alarms.map(({ AlarmDescription }) => [AlarmDescription, severityOf(AlarmDescription)]));
    expect(new Set(severities.values())).toEqual(new Set(['page', 'ticket']));
    const withoutEffect = [...severities].filter(([text]) => /: (Nothing yet|No immediate effect)/.test(text));
    expect(withoutEffect.filter(([, severity]) => severity !== 'ticket')).toEqual([]);
    for (const name of ['api-failures', 'runs-start-run', 'failed-runs', 'sweep-silent', 'lifecycle-record-outcome'])
      expect(named(name)?.AlarmDescription).toMatch(/^page: /);
    for (const name of ['purge-backlog', 'list-drift', 'concurrency', 'heartbeats-throttled', 'maintenance-purge'])
      expect(named(name)?.AlarmDescription).toMatch(/^ticket: /);
  });

  it('triggers no alarm by a single throttled request, or by one failure of a task whose next call comes within a minute', () => {
    for (const name of ['table-throttles', 'heartbeats-throttled', 'waits-refused', 'requests-throttled'])
      expect(named(name), name).toMatchObject({ EvaluationPeriods: 3, DatapointsToAlarm: 2 });
    for (const { name, everyMinutes } of schedules) expect(named(name)?.Threshold).toBe(everyMinutes === 1 ? 2 : 1);
  });

  it('has an alarm for every metric of the service, but for those of single CVMs and of single uploads', () => {
    const watched = new Set(
      synthesized
        .flatMap(({ stacks }) => alarmsOf(stacks.operations))
        .flatMap(metricsOf)
        .map(({ MetricName }) => MetricName),
    );
    expect(Object.keys(metricUnits).filter((name) => !watched.has(name))).toEqual([
      'RunsStarted', // AWS counts the executions
      'TimeToAccept',
      'ReportLag',
      'UploadsFailed', // the alarm of maintenance/receive-upload
    ]);
  });

  it('sends the start and end of every alarm to its own topic and to the existing topics of the stage for its severity', () => {
    const [own] = Object.keys(operations.ofType('AWS::SNS::Topic'));
    for (const { AlarmActions, OKActions, AlarmDescription } of alarms) {
      const existing = targetsOf(stage).flatMap((target) =>
        'topicArn' in target && [undefined, severityOf(AlarmDescription)].includes(target.for) ? [target.topicArn] : [],
      );
      expect(AlarmActions).toEqual([{ Ref: own }, ...existing]);
      expect(OKActions).toEqual(AlarmActions);
    }
  });

  it('sends what its own topic receives to the addresses of the stage, by the beginning of the text if for one severity', () => {
    const subscriptions = Object.values(operations.ofType<object>('AWS::SNS::Subscription'));
    const addresses = targetsOf(stage).flatMap((target) => ('email' in target ? [target] : []));
    expect(subscriptions).toMatchObject(
      addresses.map(({ email, for: severity }) => ({
        Endpoint: email,
        ...(severity && {
          FilterPolicy: { AlarmDescription: [{ prefix: `${severity}: ` }] },
          FilterPolicyScope: 'MessageBody',
        }),
      })),
    );
  });

  it('posts the start and end of every alarm, and no new alarm, to each webhook of the stage, with the key of its secret', () => {
    const connections = Object.values(operations.ofType<object>('AWS::Events::Connection'));
    const destinations = Object.values(operations.ofType<object>('AWS::Events::ApiDestination'));
    const rules = Object.values(operations.ofType<RuleProperties>('AWS::Events::Rule'));
    const webhooks = webhooksOf(stage);
    expect(connections).toMatchObject(
      webhooks.map(({ header, secretName }) => ({
        AuthorizationType: 'API_KEY',
        AuthParameters: {
          ApiKeyAuthParameters: {
            ApiKeyName: header,
            ApiKeyValue: `{{resolve:secretsmanager:${secretName}:SecretString:::}}`,
          },
        },
      })),
    );
    expect(destinations).toMatchObject(webhooks.map(({ url }) => ({ InvocationEndpoint: url, HttpMethod: 'POST' })));
    const severities = webhooks.flatMap((webhook) => webhook.for ?? ['page', 'ticket']);
    expect(rules).toHaveLength(severities.length);
    for (const [index, { EventPattern, Targets }] of rules.entries()) {
      expect(EventPattern).toEqual({
        source: ['aws.cloudwatch'],
        'detail-type': ['CloudWatch Alarm State Change'],
        detail: {
          alarmName: [{ prefix: nameIn(stage, '') }],
          configuration: { description: [{ prefix: `${severities[index]}: ` }] },
          $or: [{ state: { value: ['ALARM'] } }, { state: { value: ['OK'] }, previousState: { value: ['ALARM'] } }],
        },
      });
      expect(flat(Targets[0]?.DeadLetterConfig.Arn)).toContain(nameIn(stage, 'undelivered'));
      expect(Targets[0]?.InputTransformer.InputTemplate).toContain(`"severity":"${severities[index]}"`);
    }
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

  it('divides the logs between queries of the dashboard that read at most 50 each, which is the limit of CloudWatch', () => {
    const [dashboard] = Object.values(operations.ofType<{ DashboardBody: unknown }>('AWS::CloudWatch::Dashboard'));
    const { widgets } = JSON.parse(flat(dashboard?.DashboardBody)) as { widgets: { properties: { query?: string } }[] };
    const queries = widgets.flatMap(({ properties: { query } }) => query ?? []);
    const counts = queries.map((query) => query.match(/\bSOURCE '/g)?.length ?? 0);
    expect(counts).toHaveLength(stage.gateway ? 8 : 7);
    expect(Math.min(...counts)).toBeGreaterThan(0);
    expect(Math.max(...counts)).toBeLessThanOrEqual(50);
  });

  it('shows failures by the field `domain` that endpoints and tasks log', () => {
    const [dashboard] = Object.values(operations.ofType<{ DashboardBody: unknown }>('AWS::CloudWatch::Dashboard'));
    const body = flat(dashboard?.DashboardBody);
    expect(body).toContain('by domain, name, code');
    expect(body).toContain('fields @timestamp, domain, ');
    expect(body).not.toContain('domainID');
  });
});

describe('what docs/cost.md counts in a stage', () => {
  it.each(synthesized.slice(0, 1))('is what $stage.name has', ({ stacks: { state, service, operations } }) => {
    const alarms = Object.values(operations.ofType<AlarmProperties>('AWS::CloudWatch::Alarm'));
    const metrics = alarms.reduce((sum, { Metrics }) => sum + (Metrics?.filter(({ MetricStat }) => MetricStat).length ?? 1), 0);
    const keys = [state, service].flatMap((stack) => Object.keys(stack.ofType('AWS::KMS::Key'))).length;
    const dashboards = Object.keys(operations.ofType('AWS::CloudWatch::Dashboard')).length;
    const page = readFileSync(new URL('../../../docs/cost.md', import.meta.url), 'utf8');
    const row = page.split('\n').find((line) => line.includes('a stage that nobody uses'));
    expect(row).toContain(`${metrics} alarm metrics ${(metrics / 10).toFixed(2)}, ${keys} keys ${keys.toFixed(2)}`);
    expect(row).toContain(`${dashboards} dashboard ${(3 * dashboards).toFixed(2)}`);
  });
});

describe('the sections of the runbook', () => {
  const full = synthesized.find(({ stage }) => stage === fullStage);
  const alarms = Object.values(full?.stacks.operations.ofType<AlarmProperties>('AWS::CloudWatch::Alarm') ?? {});
  const ofParts = alarms.filter(({ AlarmName }) => !functionNames.some((name) => AlarmName === nameIn(fullStage, name)));

  it('begin with the alarms of parts that link to them, and no other', () => {
    const sections = runbook.split(/^## /m).map((section) => section.split('\n\n'));
    const named = sections.flatMap(([heading = '', meaning = '']) =>
      [...meaning.matchAll(/\*\*`([a-z-]+)`\*\*/g)].map(([, name]) => [name, heading.toLowerCase().replaceAll(' ', '-')]),
    );
    const expected = ofParts.map(({ AlarmName, AlarmDescription }) => [
      AlarmName.slice(nameIn(fullStage, '').length),
      /#([a-z-]+)$/.exec(AlarmDescription)?.[1],
    ]);
    expect(Object.fromEntries(named)).toEqual(Object.fromEntries(expected));
  });

  it('has every alarm that the documents name', () => {
    const docs = globSync('docs/*.md').map((file) => readFileSync(file, 'utf8'));
    const phrases = docs.flatMap((text) => text.match(/\balarms? `[a-z-]+`(?:(?:,| and| or) `[a-z-]+`)*/g) ?? []);
    const names = phrases.flatMap((phrase) => [...phrase.matchAll(/`([a-z-]+)`/g)].map(([, name]) => name));
    const known = ofParts.map(({ AlarmName }) => AlarmName.slice(nameIn(fullStage, '').length));
    expect(names).not.toHaveLength(0);
    expect(known).toEqual(expect.arrayContaining(names));
  });
});

describe('the monthly budget', () => {
  it('has another name when others are told, because AWS replaces it then, and keeps its name when it may cost more', () => {
    const nameOf = (row: Partial<Stage>) => {
      const app = new App();
      const stack = new BudgetStack(app, 'Budget', { stage: { ...fullStage, ...row }, dollars: row.monthlyBudgetInDollars ?? 9 });
      const [budget] = Object.values(Template.fromStack(stack).findResources('AWS::Budgets::Budget'));
      return (budget as { Properties: BudgetProperties }).Properties.Budget.BudgetName;
    };
    const told: Partial<Stage> = { alarmTargets: [{ email: 'one@example.com' }] };
    const names = [nameOf({ alarmTargets: 'none' }), nameOf(told), nameOf({ alarmTargets: [{ email: 'two@example.com' }] })];
    expect(new Set(names).size).toBe(3);
    for (const name of names) expect(name).toMatch(new RegExp(`^${nameIn(fullStage, 'month')}`));
    expect(nameOf({ ...told, monthlyBudgetInDollars: 1 })).toBe(names[1]);
  });

  it('is warned of if the stage has targets, but all are webhooks, which a budget cannot call', () => {
    const silent = expect.stringContaining('The budget of the stage full notifies nobody') as string;
    const targets = targetsOf(fullStage);
    const webhooks = targets.filter((target) => 'webhook' in target);
    const warningsFor = (alarmTargets: NonNullable<Stage['alarmTargets']>) =>
      annotated('warning', new BudgetStack(new App(), 'Budget', { stage: { ...fullStage, alarmTargets }, dollars: 9 }));
    expect(warningsFor(webhooks)).toEqual([silent]);
    expect(warningsFor(targets)).toEqual([]);
    expect(warningsFor('none')).toEqual([]);
  });
});

describe('the alarm targets of a stage', () => {
  it('fail at synth if the row names none for what is urgent, and can be none unless data is protected from deletion', () => {
    const { alarmTargets: _, ...unnamed } = fullStage;
    const nobody = [expect.stringContaining('The urgent alarms of the stage full notify nobody.')];
    const rows: [row: Partial<Stage>, errors: unknown[]][] = [
      [{}, nobody],
      [{ alarmTargets: [] }, nobody],
      [{ alarmTargets: [{ email: 'later@example.com', for: 'ticket' }] }, nobody],
      [{ alarmTargets: 'none', deletionProtection: false }, []],
      [{ alarmTargets: 'none', deletionProtection: true }, [expect.stringContaining('so somebody relies on it.')]],
    ];
    const stages = rows.map(([row]) => ({ ...unnamed, ...row }));
    const found = errorsBeside(stages, (...given) => new OperationsStack(...given));
    expect(found).toEqual(rows.map(([, errors]) => errors));
  });

  it('are missing in the row of prod, which fails at synth until somebody is named', () => {
    const [, , prod] = synthesized.map(({ stage }) => stage);
    expect(prod && errorsOf(prod)).toEqual([expect.stringContaining('The urgent alarms of the stage prod notify nobody.')]);
  });
});
