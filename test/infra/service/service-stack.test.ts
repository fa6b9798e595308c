import { describe, expect, it } from 'vitest';
import { functionNames, type FunctionName, variablesOf } from '../../../infra/service/service-function.ts';
import { referenceFiles } from '../../../functions/reference/reference-files.ts';
import { faultsOfReservations } from '../../../infra/service/reserved-concurrency.ts';
import { nameIn, type Stage } from '../../../infra/stages/stage.ts';
import { stages } from '../../../infra/stages/stages.ts';
import { environment } from '../../../shared/runtime/environment.ts';
import { lifecycleSteps, stateMachineDefinition } from '../../../shared/lifecycle/state-machine.ts';
import { routes } from '../../../shared/endpoints/endpoints.ts';
import { methodsOf, takesKey, type Route } from '../../../shared/http/route.ts';
import type { Uses } from '../../../shared/runtime/uses.ts';
import { tasks, schedules } from '../../../shared/tasks/tasks.ts';
import { errorsOf, flat, fullStage, originsOf, synthesize, type SynthesizedStage } from '../../support/synthesized-stages.ts';

interface FunctionProperties {
  FunctionName: string;
  Role: unknown;
  Runtime: string;
  Architectures: string[];
  MemorySize: number;
  Timeout: number;
  ReservedConcurrentExecutions?: number;
  TracingConfig?: { Mode: string };
  LoggingConfig: { LogFormat: string; LogGroup: unknown; ApplicationLogLevel: string };
  Environment: { Variables: Record<string, unknown> };
  DeadLetterConfig?: { TargetArn: unknown };
}

interface Statement {
  Condition?: Record<string, object>;
  Effect: string;
  Action: string | string[];
  Resource: unknown;
}

interface RoleProperties {
  Policies?: { PolicyDocument: { Statement: Statement[] } }[];
  ManagedPolicyArns?: unknown[];
}

/** The variables of access logs that AWS documents for HTTP APIs, of those that the service uses. */
const accessLogVariables = new Set([
  'requestId',
  'requestTime',
  'identity.sourceIp',
  'identity.userAgent',
  'routeKey',
  'status',
  'authorizer.claims.sub',
  'authorizer.error',
  'error.message',
  'integrationErrorMessage',
  'responseLatency',
  'integrationLatency',
  'responseLength',
  'dataProcessed',
]);

const usesOf = new Map<FunctionName, Uses>([...routes, ...tasks].map(({ name, uses }) => [name, uses]));

function functionOf({ stage, stacks }: SynthesizedStage, name: FunctionName): FunctionProperties {
  const functions = Object.values(stacks.service.ofType<FunctionProperties>('AWS::Lambda::Function'));
  const found = functions.find((properties) => properties.FunctionName === nameIn(stage, name));
  if (!found) throw new Error(`The template has no function ${name}.`);
  return found;
}

function statementsOf(synthesized: SynthesizedStage, name: FunctionName): Statement[] {
  const roles = synthesized.stacks.service.ofType<RoleProperties>('AWS::IAM::Role');
  const role = roles[referenced(functionOf(synthesized, name).Role)];
  return (role?.Policies ?? []).flatMap(({ PolicyDocument }) => PolicyDocument.Statement);
}

/** Returns the logical id in a `Ref` or `Fn::GetAtt`. */
function referenced(reference: unknown): string {
  const { Ref, 'Fn::GetAtt': attribute } = reference as { Ref?: string; 'Fn::GetAtt'?: string[] };
  return Ref ?? attribute?.[0] ?? '';
}

const ofReference = Object.keys(referenceFiles()).map((path) => `GET ${path}`);

/** The routes of the route table as API Gateway has them. */
const withHead = routes.flatMap((route) => methodsOf(route, routes).map((method) => ({ ...route, method })));
const routeKeysOf = (route: Route) => methodsOf(route, routes).map((method) => `${method} ${route.path}`);

const maxWaitInSeconds = 20;
const changes = functionNames.filter((name) => routes.some((route) => route.name === name && takesKey(route)));
const slowReads = ['assets/get-asset', 'todo/get-todo'];
const waits = (name: FunctionName) => routes.some((route: Route) => route.name === name && route.waits);

const isScheduled = (name: FunctionName) => schedules.some((schedule) => schedule.name === name);

const faultsOf = (stage: Stage) => faultsOfReservations(stage, [stage]);

const listed = (actions: string | string[]) => [actions].flat();

describe.each(synthesize())('the service stack of $stage.name', (synthesized) => {
  const { stage, stacks } = synthesized;
  const { service } = stacks;

  it('has fewer than 500 resources, the limit of a stack', () => {
    // 481 at most, with the endpoints of mail. A function with an endpoint takes about 6: after one more, split the stack.
    expect(Object.keys(service.resources).length).toBeLessThan(490);
  });

  it('has termination protection if the stage asks for it', () => {
    expect(service.terminationProtection).toBe(stage.terminationProtection);
  });

  it('has the functions of the route table and the task table, the one of the API reference, and no other', () => {
    const names = Object.values(service.ofType<FunctionProperties>('AWS::Lambda::Function')).map(
      (properties) => properties.FunctionName,
    );
    expect(names.sort()).toEqual([...functionNames, 'reference'].map((name) => nameIn(stage, name)).sort());
  });

  it('gives every function its own role and its own log group', () => {
    const functions = functionNames.map((name) => functionOf(synthesized, name));
    expect(new Set(functions.map((properties) => referenced(properties.Role))).size).toBe(functions.length);
    expect(new Set(functions.map((properties) => referenced(properties.LoggingConfig.LogGroup))).size).toBe(functions.length);
  });

  it('keeps every log for the retention of the stage, and the access log for that of its audit', () => {
    const logs = Object.values(service.ofType<{ RetentionInDays?: number }>('AWS::Logs::LogGroup'));
    expect(logs.length).toBeGreaterThan(functionNames.length);
    const others = logs.filter((log) => log.RetentionInDays !== stage.logRetention);
    expect(others.map((log) => log.RetentionInDays)).toEqual([stage.auditRetention]); // the access log
  });

  it('has the routes of the route table, those of the API reference, and no other', () => {
    const keys = Object.values(service.ofType<{ RouteKey: string }>('AWS::ApiGatewayV2::Route')).map(({ RouteKey }) => RouteKey);
    expect(keys.sort()).toEqual([...routes.flatMap(routeKeysOf), ...ofReference].sort());
    expect(keys.length).toBeLessThan(250); // an API has at most 300
  });

  it('has HEAD beside each GET of the route table, except those that stop a run and release a key', () => {
    const keys = Object.values(service.ofType<{ RouteKey: string }>('AWS::ApiGatewayV2::Route')).map(({ RouteKey }) => RouteKey);
    const reading = routes.filter(
      ({ method, name }) => method === 'GET' && name !== 'runs/stop-run' && name !== 'releases/get-key',
    );
    expect(keys.filter((key) => key.startsWith('HEAD ')).sort()).toEqual(reading.map(({ path }) => `HEAD ${path}`).sort());
  });

  it('permits the API to call a function once for each path of it, and for the API reference once', () => {
    const permissions = Object.values(service.ofType<{ Principal: string; SourceArn: unknown }>('AWS::Lambda::Permission'));
    const sources = permissions
      .filter(({ Principal }) => Principal === 'apigateway.amazonaws.com')
      .map(({ SourceArn }) => flat(SourceArn));
    const permitted = sources.map((source) => source.replace(/^.*?\/\*\/\*/, ''));
    expect(permitted.sort()).toEqual(
      [...new Set(routes.map((route) => `${route.path} ${route.name}`))]
        .map((each) => each.split(' ')[0])
        .concat('/*')
        .sort(),
    );
  });

  it.each(withHead)('routes $method $path to its function, with a token unless it is public', (route) => {
    const found = Object.values(
      service.ofType<{ RouteKey: string; AuthorizationType: string; Target: unknown }>('AWS::ApiGatewayV2::Route'),
    ).find(({ RouteKey }) => RouteKey === `${route.method} ${route.path}`);
    expect(found?.AuthorizationType).toBe('access' in route ? 'JWT' : 'NONE');
    const integrations = service.ofType<{ IntegrationUri: unknown }>('AWS::ApiGatewayV2::Integration');
    const integration = Object.entries(integrations).find(([id]) => flat(found?.Target).includes(id));
    const functions = service.ofType<FunctionProperties>('AWS::Lambda::Function');
    expect(functions[referenced(integration?.[1].IntegrationUri)]?.FunctionName).toBe(nameIn(stage, route.name));
  });

  it('checks tokens against the issuer of the stage', () => {
    const [authorizer, ...others] = Object.values(
      service.ofType<{ JwtConfiguration: { Issuer: unknown; Audience: unknown[] } }>('AWS::ApiGatewayV2::Authorizer'),
    );
    expect(others).toEqual([]);
    expect(authorizer?.JwtConfiguration.Audience).toHaveLength(stage.canary && !stage.issuer ? 2 : 1);
    if (stage.issuer) expect(authorizer?.JwtConfiguration).toEqual({ Issuer: stage.issuer.url, Audience: stage.issuer.audience });
  });

  it('throttles and logs every request, and allows the web origins of the stage only', () => {
    const [deployed] = Object.values(service.ofType<Record<string, unknown>>('AWS::ApiGatewayV2::Stage'));
    expect(deployed).toMatchObject({
      DefaultRouteSettings: {
        DetailedMetricsEnabled: false,
        ThrottlingBurstLimit: stage.throttling.burst,
        ThrottlingRateLimit: stage.throttling.requestsPerSecond,
      },
    });
    const { Format } = deployed?.['AccessLogSettings'] as { Format: string };
    const fields = JSON.parse(Format) as Record<string, string>;
    expect(fields).toMatchObject({ requestId: '$context.requestId', status: '$context.status' });
    const unknown = Object.values(fields).filter((variable) => !accessLogVariables.has(variable.replace('$context.', '')));
    expect(unknown).toEqual([stage.name]); // by which metrics tell the stages of an account apart
    expect(Format).not.toMatch(/path/i); // that of a link to unsubscribe has a secret
    const [api] = Object.values(service.ofType<{ CorsConfiguration?: Record<string, unknown> }>('AWS::ApiGatewayV2::Api'));
    expect(api?.CorsConfiguration?.['AllowOrigins'] ?? []).toEqual(originsOf(stage));
    if (originsOf(stage).length === 0) return;
    expect(api?.CorsConfiguration).toMatchObject({
      AllowHeaders: expect.arrayContaining([
        'authorization',
        'content-type',
        'if-match',
        'if-none-match',
        'idempotency-key',
        'hx-request',
      ]),
      AllowMethods: ['GET', 'POST', 'PUT', 'DELETE'],
      ExposeHeaders: expect.arrayContaining([
        'x-request-id',
        'location',
        'hx-location',
        'retry-after',
        'etag',
        'idempotent-replayed',
        'manifest-digest',
        'configuration-digest',
      ]),
    });
  });

  it('admits fewer requests to expensive routes, after these routes exist', () => {
    const [deployed] = Object.values(service.resources).filter(({ Type }) => Type === 'AWS::ApiGatewayV2::Stage');
    const expensive = (routes as readonly Route[]).filter(({ isExpensive }) => isExpensive).flatMap(routeKeysOf);
    const settings = deployed?.Properties['RouteSettings'] as Record<string, object>;
    expect(Object.keys(settings)).toEqual(expect.arrayContaining(expensive));
    for (const route of expensive) {
      expect(settings[route]).toEqual({
        ThrottlingRateLimit: stage.expensiveThrottling.requestsPerSecond,
        ThrottlingBurstLimit: stage.expensiveThrottling.burst,
      });
    }
    expect(deployed?.DependsOn).toEqual(expect.arrayContaining(Object.keys(service.ofType('AWS::ApiGatewayV2::Route'))));
  });

  it('admits few requests to each route that needs no token', () => {
    const [deployed] = Object.values(service.ofType<{ RouteSettings: Record<string, object> }>('AWS::ApiGatewayV2::Stage'));
    const found = Object.values(service.ofType<{ RouteKey: string; AuthorizationType: string }>('AWS::ApiGatewayV2::Route'));
    const open = found.filter(({ AuthorizationType }) => AuthorizationType === 'NONE').map(({ RouteKey }) => RouteKey);
    const few = { ThrottlingRateLimit: 10, ThrottlingBurstLimit: 50 };
    expect(Object.fromEntries(open.map((route) => [route, deployed?.RouteSettings[route]]))).toEqual({
      'GET /health': few,
      'HEAD /health': few,
      'GET /log/checkpoint': few,
      'HEAD /log/checkpoint': few,
      'GET /log/tile/{tile+}': few,
      'HEAD /log/tile/{tile+}': few,
      'GET /.well-known/jwks.json': few,
      'HEAD /.well-known/jwks.json': few,
      'POST /{domainID}/kbs/v0/auth': few,
      'POST /{domainID}/kbs/v0/attest': few,
      'GET /{domainID}/kbs/v0/resource/{resource+}': few,
      'GET /unsubscribe/{secret}': few,
      'HEAD /unsubscribe/{secret}': few,
      'POST /unsubscribe/{secret}': few,
      ...Object.fromEntries(
        ['GET /openapi.json', 'HEAD /openapi.json', ...ofReference].map((route) => [
          route,
          { ThrottlingRateLimit: 2, ThrottlingBurstLimit: 20 },
        ]),
      ),
    });
    const expensive = (routes as readonly Route[]).filter(({ isExpensive }) => isExpensive).flatMap(routeKeysOf);
    expect(Object.keys(deployed?.RouteSettings ?? {})).toHaveLength(open.length + expensive.length);
  });

  it('serves the API reference by a function that may do nothing but write its log', () => {
    const roles = Object.entries(service.ofType<RoleProperties>('AWS::IAM::Role')).filter(([id]) => id.startsWith('Reference'));
    const actions = roles.flatMap(([, { Policies = [] }]) =>
      Policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement.flatMap(({ Action }) => listed(Action))),
    );
    expect(actions).toEqual(['logs:CreateLogStream', 'logs:PutLogEvents']);
  });

  it('gives reports, changes, slow reads, functions that wait, lifecycle steps and tasks executions of their own', () => {
    const reserved = functionNames
      .map((name) => [name, functionOf(synthesized, name).ReservedConcurrentExecutions] as const)
      .filter(([, count]) => count !== undefined);
    const { reservedConcurrency: wanted } = stage;
    const expected: [string, number | undefined][] =
      wanted === 'none'
        ? []
        : [
            ['cvms/report', wanted.reports],
            ...(wanted.changes === undefined ? [] : changes.map((name): [string, number | undefined] => [name, wanted.changes])),
            ...(wanted.slowReads === undefined
              ? []
              : slowReads.map((name): [string, number | undefined] => [name, wanted.slowReads])),
            ...functionNames.filter(waits).map((name): [string, number | undefined] => [name, stage.waits.concurrency]),
            ...[...lifecycleSteps, 'execution-ended'].map((step): [string, number] => [
              `lifecycle/${step}`,
              wanted.lifecycleSteps,
            ]),
            ['maintenance/follow-table', wanted.lifecycleSteps],
            ['maintenance/receive-upload', wanted.uploads],
            ['attestation/verify-token', wanted.uploads],
            ...schedules.map(({ name }): [string, number] => [name, 1]),
          ];
    expect(Object.fromEntries(reserved)).toEqual(Object.fromEntries(expected));
  });

  it.each(functionNames.filter(waits))('gives %s, which waits, more executions of its own than it may hold requests', (name) => {
    const { perStage, perDomain, concurrency } = stage.waits;
    const properties = functionOf(synthesized, name);
    expect(properties.ReservedConcurrentExecutions).toBe(concurrency);
    expect(concurrency).toBeGreaterThan(perStage);
    const caps = { WAITS_PER_STAGE: String(perStage), WAITS_PER_DOMAIN: String(perDomain) };
    expect(properties.Environment.Variables).toMatchObject(caps);
    expect(properties.Timeout).toBeGreaterThan(maxWaitInSeconds + 5);
  });

  it('limits the changes of a domain as the stage says, in a function that may write the bucket', () => {
    const changing = new Set((routes as readonly Route[]).filter(takesKey).map(({ name }) => name));
    const { changesPerSecond = '', burst = '' } = stage.domainLimit ?? {};
    for (const name of functionNames) {
      const { Variables } = functionOf(synthesized, name).Environment;
      const limits = [Variables['DOMAIN_CHANGES_PER_SECOND'], Variables['DOMAIN_BURST']];
      expect(limits).toEqual(changing.has(name) ? [String(changesPerSecond), String(burst)] : [undefined, undefined]);
      if (changing.has(name)) expect(usesOf.get(name)?.table).toContain('UpdateItem');
    }
  });

  it('outputs what the documents ask for', () => {
    const outputs = [stacks.state, service].flatMap((stack) => stack.outputs);
    const asked = ['TableName', 'TableArn', 'ContentBucketName', 'AccessLogBucketName', 'StateMachineArn', 'UndeliveredUrl'];
    expect(outputs).toEqual(expect.arrayContaining(asked));
    expect(outputs.some((name) => name.startsWith('ApiUrl'))).toBe(true);
  });

  it('has the custom domain of the stage, if there is one', () => {
    const domains = Object.values(service.ofType<{ DomainName: string }>('AWS::ApiGatewayV2::DomainName'));
    expect(domains.map(({ DomainName }) => DomainName)).toEqual(stage.domain ? [stage.domain.name] : []);
  });

  it('grants no wildcard action, and any resource only for traces and log delivery', () => {
    const documents = [
      ...Object.values(service.ofType<RoleProperties>('AWS::IAM::Role')).flatMap(({ Policies }) => Policies ?? []),
      ...Object.values(service.ofType<{ PolicyDocument: { Statement: Statement[] } }>('AWS::IAM::Policy')),
    ];
    const statements = documents.flatMap(({ PolicyDocument }) => PolicyDocument.Statement);
    expect(statements.flatMap(({ Action }) => listed(Action)).filter((action) => action.includes('*'))).toEqual([]);
    const anywhere = statements.filter(({ Resource }) => Resource === '*').flatMap(({ Action }) => listed(Action));
    expect(anywhere.filter((action) => !/^(xray|logs):/.test(action))).toEqual([]);
    const roles = Object.values(service.ofType<RoleProperties>('AWS::IAM::Role'));
    expect(roles.flatMap(({ ManagedPolicyArns }) => ManagedPolicyArns ?? [])).toEqual([]);
  });

  describe.each(functionNames)('%s', (name) => {
    const properties = functionOf(synthesized, name);
    const statements = statementsOf(synthesized, name);
    const uses = usesOf.get(name) ?? {};
    const actionsOn = (service: string) =>
      statements.flatMap(({ Action }) => listed(Action)).filter((action) => action.startsWith(`${service}:`));

    it('runs on Node 24 and ARM with JSON logs, enough memory and a timeout, and traces unless a schedule calls it', () => {
      expect(properties).toMatchObject({
        Runtime: 'nodejs24.x',
        Architectures: ['arm64'],
        LoggingConfig: { LogFormat: 'JSON', ApplicationLogLevel: stage.logLevel },
      });
      expect(properties.TracingConfig).toEqual(isScheduled(name) ? undefined : { Mode: 'Active' });
      expect(properties.MemorySize).toBe(waits(name) ? 256 : 512);
      expect(properties.Timeout).toBeLessThanOrEqual(routes.some((route) => route.name === name) ? 29 : 900);
    });

    it('is granted exactly the actions that it declares', () => {
      expect(actionsOn('dynamodb').sort()).toEqual(
        [...(uses.table ?? []), ...(uses.stream ?? [])].map((action) => `dynamodb:${action}`).sort(),
      );
      expect(actionsOn('s3').sort()).toEqual(
        [...(uses.content ?? []), ...(uses.bucket ?? []), ...(uses.log ?? [])].map((action) => `s3:${action}`).sort(),
      );
      expect(actionsOn('states').sort()).toEqual((uses.stateMachine ?? []).map((action) => `states:${action}`).sort());
      const ofKeys = [
        ...(uses.logKey ?? []),
        ...(uses.signingKey ?? []),
        ...(uses.sealingKey ?? []),
        ...(uses.publishedKeys ?? []),
      ];
      expect(actionsOn('kms').sort()).toEqual(ofKeys.map((action) => `kms:${action}`).sort());
      expect(actionsOn('lambda')).toEqual((uses.purge ?? []).map((action) => `lambda:${action}`));
      const others = statements
        .flatMap(({ Action }) => listed(Action))
        .filter((action) => !/^(dynamodb|s3|states|kms|lambda|ses):/.test(action));
      expect(others.sort()).toEqual([
        'logs:CreateLogStream',
        'logs:PutLogEvents',
        ...(properties.DeadLetterConfig ? ['sqs:SendMessage'] : []),
        ...(isScheduled(name) ? [] : ['xray:PutTelemetryRecords', 'xray:PutTraceSegments']),
      ]);
    });

    it('is granted access only to the table, the state machine, the purge, the log and objects under content/', () => {
      for (const { Action, Resource } of statements) {
        const [action] = listed(Action);
        if (action?.startsWith('dynamodb:')) expect(flat(Resource)).toMatch(/Table/);
        const ofLog = flat(Resource).includes('log-arn') || flat(Resource).includes('Log');
        if (/^s3:(Get|Put|Delete)Object$/.test(action ?? '') && !(uses.log && ofLog)) {
          expect(flat(Resource)).toMatch(/\/content\/\*$/);
        }
        if (action?.startsWith('states:')) expect(flat(Resource)).toContain(nameIn(stage, 'run-lifecycle'));
        if (action?.startsWith('lambda:')) {
          expect(flat(Resource)).toMatch(new RegExp(`:function:${nameIn(stage, 'maintenance/purge')}"?$`));
        }
      }
    });

    it('may sign only evidence and what releases of keys rest on, only with the newest key, or integrates the log, with the key of the log', () => {
      const signing = statements.filter(({ Action }) => listed(Action).includes('kms:Sign'));
      const signs = signing.filter(({ Resource }) => !flat(Resource).includes('LogKey'));
      const makers = ['evidence/get-evidence', 'results/get-result', 'releases/attest', 'releases/list-releases'];
      expect(signs).toHaveLength(makers.includes(name) ? 1 : 0);
      const integrates = name === 'maintenance/follow-table' || name === 'maintenance/integrate-log';
      expect(signing.length - signs.length).toBe(integrates ? 1 : 0);
      const newest = stage.evidenceKeys.at(-1)?.replace('-', '') ?? '';
      for (const { Resource } of signs) expect(flat(Resource)).toMatch(new RegExp(`EvidenceKeys${newest}`));
    });

    it('may open keys of assets only if it releases them, and other secrets only of one kind', () => {
      const opens = statements.filter(
        ({ Action, Resource }) => listed(Action).includes('kms:Decrypt') && /SealingKey/.test(flat(Resource)),
      );
      for (const { Condition } of opens) {
        const [[operator, condition] = []] = Object.entries(Condition ?? {});
        const kind = Object.keys(condition ?? {})[0]?.replace('kms:EncryptionContext:', '');
        expect([operator, kind === 'asset']).toEqual(['StringLike', name === 'releases/get-key']);
      }
      if (name === 'releases/get-key') expect(opens).toHaveLength(1);
    });

    it('is granted no use of the key that seals private keys, except on that key', () => {
      for (const { Action, Resource } of statements) {
        if (/^kms:(GenerateDataKey|Decrypt)$/.test(listed(Action)[0] ?? '')) expect(flat(Resource)).toMatch(/SealingKey/);
      }
    });

    it('has exactly the environment variables that it declares, each with a value, except mail of a stage without', () => {
      const { MAIL = 'none declared', ...others } = properties.Environment.Variables;
      expect(Object.keys(properties.Environment.Variables).sort()).toEqual(variablesOf(name).sort());
      expect(Object.values(others)).not.toContain('');
      expect(MAIL === '').toBe(!stage.mail && variablesOf(name).includes('MAIL'));
    });
  });

  it('sets every environment variable for at least one function', () => {
    const given = new Set<string>(functionNames.flatMap(variablesOf));
    const setByAws = ['AWS_REGION', 'ECS_AGENT_URI', 'ECS_CONTAINER_METADATA_URI_V4'];
    const ofTheGateway = [
      'BALANCER_URL',
      'DRAIN_HOURS',
      'TARGET_GROUP_ARN',
      'GATEWAY_PORT',
      'GATEWAY_TLS',
      'GATEWAY_HEALTH_PORT',
      'GATEWAY_HOSTS',
      'AUTHORITY_KEY_ARN',
      'TLS_SECRET_ARN',
    ];
    expect([...given, ...setByAws, ...ofTheGateway, 'CANARY'].sort()).toEqual(Object.keys(environment()).sort());
  });

  describe('the run lifecycle', () => {
    const [machine] = Object.values(service.ofType<Record<string, unknown>>('AWS::StepFunctions::StateMachine'));

    it('has the shared definition with the functions and time limits of the stage', () => {
      const text = flat(machine?.['DefinitionString']);
      const functions = service.ofType<FunctionProperties>('AWS::Lambda::Function');
      const idOf = (name: string) =>
        Object.entries(functions).find(([, found]) => found.FunctionName === nameIn(stage, name))?.[0] ?? '';
      expect(JSON.parse(text)).toEqual(
        JSON.parse(JSON.stringify(stateMachineDefinition((step) => `<${idOf(`lifecycle/${step}`)}>`, stage.runTimes))),
      );
    });

    it('has tracing, and logs without task tokens', () => {
      expect(machine).toMatchObject({
        StateMachineName: nameIn(stage, 'run-lifecycle'),
        TracingConfiguration: { Enabled: true },
        LoggingConfiguration: { Level: 'ALL', IncludeExecutionData: false },
      });
    });

    it('may invoke its steps and no other function', () => {
      const policies = Object.values(service.ofType<{ PolicyDocument: { Statement: Statement[] } }>('AWS::IAM::Policy'));
      const invokes = policies
        .flatMap(({ PolicyDocument }) => PolicyDocument.Statement)
        .filter(({ Action }) => listed(Action).includes('lambda:InvokeFunction'));
      expect(invokes.flatMap(({ Resource }) => Resource as unknown[])).toHaveLength(lifecycleSteps.length);
    });
  });

  describe('the triggers', () => {
    interface RuleProperties {
      ScheduleExpression?: string;
      EventPattern?: Record<string, unknown>;
      Targets: {
        Arn: unknown;
        DeadLetterConfig?: unknown;
        RetryPolicy?: unknown;
        InputTransformer?: { InputTemplate: string };
      }[];
    }
    const rules = Object.values(service.ofType<RuleProperties>('AWS::Events::Rule'));
    const functions = service.ofType<FunctionProperties>('AWS::Lambda::Function');
    const calling = (name: FunctionName) =>
      rules.filter(({ Targets }) => Targets.some(({ Arn }) => functions[referenced(Arn)]?.FunctionName === nameIn(stage, name)));

    it('invoke the scheduled functions at their intervals', () => {
      for (const { name, everyMinutes } of schedules) {
        const [rule] = calling(name);
        const expected = everyMinutes === 1 ? 'rate(1 minute)' : `rate(${everyMinutes} minutes)`;
        expect(rule?.ScheduleExpression).toBe(expected);
      }
    });

    it('report executions that ended without an outcome', () => {
      const [rule] = calling('lifecycle/execution-ended');
      expect(rule?.EventPattern).toMatchObject({ detail: { status: ['FAILED', 'TIMED_OUT', 'ABORTED'] } });
    });

    it.each([
      ['maintenance/receive-upload', 'content/upload/'],
      ['attestation/verify-token', 'content/attestation/'],
    ] as const)('report to %s in the form of S3 what arrives with its prefix', (name, prefix) => {
      const [rule] = calling(name);
      expect(rule?.EventPattern).toMatchObject({ detail: { object: { key: [{ prefix }] } } });
      expect(rule?.Targets[0]?.InputTransformer?.InputTemplate).toMatch(/^\{"key":<[^>]+>\}$/);
    });

    it('retry, and keep undelivered events, except those of a schedule, which are dropped after a minute', () => {
      const scheduled = rules.filter(({ ScheduleExpression }) => ScheduleExpression !== undefined);
      const others = rules.filter(({ ScheduleExpression }) => ScheduleExpression === undefined);
      expect([scheduled.length, others.length]).toEqual([schedules.length, 4]);
      for (const target of others.flatMap(({ Targets }) => Targets)) {
        expect(target.DeadLetterConfig).toBeDefined();
        expect(target.RetryPolicy).toEqual({ MaximumEventAgeInSeconds: 21_600, MaximumRetryAttempts: 20 });
        expect(functions[referenced(target.Arn)]?.DeadLetterConfig).toBeDefined();
      }
      for (const target of scheduled.flatMap(({ Targets }) => Targets)) {
        expect(target.DeadLetterConfig).toBeUndefined();
        expect(target.RetryPolicy).toEqual({ MaximumEventAgeInSeconds: 60, MaximumRetryAttempts: 0 });
        expect(functions[referenced(target.Arn)]?.DeadLetterConfig).toBeUndefined();
      }
    });

    it('make no second attempt of a scheduled task', () => {
      const configs = Object.values(
        service.ofType<{ FunctionName: unknown; MaximumEventAgeInSeconds: number; MaximumRetryAttempts: number }>(
          'AWS::Lambda::EventInvokeConfig',
        ),
      );
      const names = configs.map(({ FunctionName }) => functions[referenced(FunctionName)]?.FunctionName);
      expect(names.sort()).toEqual(schedules.map(({ name }) => nameIn(stage, name)).sort());
      for (const config of configs) expect(config).toMatchObject({ MaximumEventAgeInSeconds: 60, MaximumRetryAttempts: 0 });
    });
  });
});

describe('a stage that reserves more executions than its account has', () => {
  it('is told what to do', () => {
    expect(faultsOf({ ...fullStage, accountConcurrency: 100 })).toEqual([
      expect.stringMatching(/^The stage full reserves \d+ concurrent executions and must leave 100 .* but its account has 100\./),
    ]);
  });

  it('counts what functions that wait reserve', () => {
    const waits = { ...fullStage.waits, concurrency: 900 };
    expect(faultsOf({ ...fullStage, waits })).toEqual([expect.stringContaining('but its account has 6000.')]);
  });

  it('passes with a smaller quota if it reserves none for changes and slow reads', () => {
    const { reservedConcurrency } = fullStage;
    if (reservedConcurrency === 'none') throw new Error('The stage reserves nothing.');
    const { changes, slowReads, ...others } = reservedConcurrency;
    expect(changes).toBeGreaterThan(0);
    expect(slowReads).toBeGreaterThan(0);
    expect(faultsOf({ ...fullStage, accountConcurrency: 1_400, reservedConcurrency: others })).toEqual([]);
    expect(faultsOf({ ...fullStage, accountConcurrency: 1_000 })).toHaveLength(1);
  });

  it('passes if it reserves none', () => {
    expect(faultsOf({ ...fullStage, accountConcurrency: 10, reservedConcurrency: 'none' })).toEqual([]);
  });
});

describe('stages that share an account', () => {
  const another = { ...fullStage, name: 'another' };

  it('fail at synth with what to do if together they reserve more executions than it has', () => {
    expect(errorsOf(fullStage, [fullStage, another])).toEqual([
      expect.stringMatching(
        /^The stages of the account production \(full, another\) together reserve \d+ concurrent executions .* the account has 6000\./,
      ),
    ]);
  });

  it('are those with the same name of their account and the same region', () => {
    const elsewhere = [
      { ...another, account: 'another' },
      { ...another, region: 'eu-west-1' },
    ];
    expect(faultsOfReservations(fullStage, [fullStage, ...elsewhere])).toEqual([]);
  });
});

describe('the table of stages', () => {
  it('has no stages that reserve more executions than their account has', () => {
    expect(stages.flatMap((stage) => faultsOfReservations(stage, stages))).toEqual([]);
  });

  it('admits four times as many requests to each route as the changes that one domain may make', () => {
    for (const { throttling, expensiveThrottling, domainLimit } of stages) {
      const ofDomain = domainLimit?.changesPerSecond ?? Infinity;
      expect(expensiveThrottling.requestsPerSecond).toBeGreaterThanOrEqual(4 * ofDomain);
      expect(throttling.requestsPerSecond).toBeGreaterThanOrEqual(expensiveThrottling.requestsPerSecond);
    }
  });
});

describe('a stage that reserves no more executions for waits than it may hold', () => {
  it('has a fault, unless waits share the executions of the account', () => {
    const { perStage, perDomain } = fullStage.waits;
    const faults = faultsOf({ ...fullStage, waits: { perStage, perDomain, concurrency: perStage } });
    expect(faults).toEqual([expect.stringContaining('Make waits.concurrency of the stage in infra/stages/stages.ts more than')]);
    expect(faultsOf({ ...fullStage, waits: { perStage, perDomain } })).toEqual([]);
  });
});
