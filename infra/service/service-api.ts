import { Annotations, CfnOutput, Duration, Fn, Stack } from 'aws-cdk-lib';
import { AccessLogFormat } from 'aws-cdk-lib/aws-apigateway';
import {
  CorsHttpMethod,
  DomainName,
  HttpApi,
  HttpStage,
  LogGroupLogDestination,
  type CfnStage,
  type CorsPreflightOptions,
  type HttpRoute,
  HttpMethod,
  HttpNoneAuthorizer,
  type HttpRouteIntegrationBindOptions,
} from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpJwtAuthorizer } from 'aws-cdk-lib/aws-apigatewayv2-authorizers';
import { Certificate, CertificateValidation } from 'aws-cdk-lib/aws-certificatemanager';
import { ARecord, RecordTarget } from 'aws-cdk-lib/aws-route53';
import { ApiGatewayv2DomainProperties } from 'aws-cdk-lib/aws-route53-targets';
import { FilterPattern, LogGroup, MetricFilter } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { type Route, methodsOf } from '../../shared/http/route.ts';
import { type Throttling, keptForAudit, metricsNamespace, nameIn, type Issuer, type Stage } from '../stages/stage.ts';
import { apiCors } from '../../shared/http/cors.ts';
import type { MetricName } from '../../shared/runtime/log.ts';
import { routes } from '../../shared/endpoints/endpoints.ts';
import { zoneOf, acknowledge, loggedFunction } from '../house.ts';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { type FunctionName, ServiceFunction, type CommonProps } from './service-function.ts';
import { referencePaths } from '../../functions/reference/reference-files.ts';

/**
 * Returns the requests that API Gateway admits to a route that needs no token. The limits are low, since anyone may run up a bill
 * there (docs/cost.md).
 */
function publicThrottlingOf({ name }: Pick<Route, 'name'>): Throttling {
  return name === 'service/openapi' ? { requestsPerSecond: 2, burst: 20 } : { requestsPerSecond: 10, burst: 50 };
}

/**
 * The fields of an entry of the API's access log. Every request has an entry, also a request that reaches no function. The path is none of
 * them, because that of a link to unsubscribe has a secret. `requestId` leads to the function's log, which has the domain.
 */
const accessLogFormat = {
  requestId: '$context.requestId',
  time: '$context.requestTime',
  ip: '$context.identity.sourceIp',
  userAgent: '$context.identity.userAgent',
  route: '$context.routeKey',
  status: '$context.status',
  user: '$context.authorizer.claims.sub',
  authorizerError: '$context.authorizer.error',
  error: '$context.error.message',
  integrationError: '$context.integrationErrorMessage',
  latency: '$context.responseLatency',
  integrationLatency: '$context.integrationLatency',
  responseLength: '$context.responseLength',
  dataProcessed: '$context.dataProcessed',
};

/** The HTTP API of a stage: its authorizer, CORS, throttling, custom domain and access log. */
export class ServiceApi extends Construct {
  readonly http: HttpApi;
  readonly authorizer: HttpJwtAuthorizer;
  readonly url: string;
  private readonly deployed: CfnStage;
  private readonly settings: Record<string, { ThrottlingRateLimit: number; ThrottlingBurstLimit: number }> = {};

  /** @param origins whose pages may call the API */
  constructor(scope: Construct, id: string, stage: Stage, issuer: Issuer, origins: readonly string[]) {
    super(scope, id);
    this.authorizer = new HttpJwtAuthorizer('Issuer', issuer.url, { jwtAudience: [...issuer.audience] });
    this.http = new HttpApi(this, 'Http', {
      apiName: nameIn(stage, 'api'),
      createDefaultStage: false,
      ...(origins.length > 0 ? { corsPreflight: corsOf(origins) } : {}),
      disableExecuteApiEndpoint: stage.domain !== undefined,
    });
    const ofThisStack = Fn.select(2, Fn.split('/', Stack.of(this).stackId)); // so that the next stack can have a log beside a kept one
    const accessLog = new LogGroup(this, 'AccessLog', {
      logGroupName: `/aws/vendedlogs/${nameIn(stage, 'api')}/${ofThisStack}`,
      retention: stage.auditRetention,
      removalPolicy: keptForAudit(stage),
    });
    new MetricFilter(this, 'Throttled', {
      logGroup: accessLog,
      filterPattern: FilterPattern.stringValue('$.status', '=', '429'),
      metricNamespace: metricsNamespace,
      metricName: 'RequestsThrottled' satisfies MetricName,
      dimensions: { stage: '$.stage' },
    });
    const domain = stage.domain && this.domainOf(stage, stage.domain);
    const deployed = new HttpStage(this, 'Stage', {
      httpApi: this.http,
      stageName: '$default',
      autoDeploy: true,
      throttle: { rateLimit: stage.throttling.requestsPerSecond, burstLimit: stage.throttling.burst },
      detailedMetricsEnabled: false, // six custom metrics for each route; docs/cost.md
      accessLogSettings: {
        destination: new LogGroupLogDestination(accessLog),
        format: AccessLogFormat.custom(JSON.stringify({ ...accessLogFormat, stage: stage.name })),
      },
      ...(domain ? { domainMapping: { domainName: domain } } : {}),
    });
    this.deployed = deployed.node.defaultChild as CfnStage;
    this.url = stage.domain ? `https://${stage.domain.name}` : deployed.url.replace(/\/$/, '');
    new CfnOutput(this, 'Url', { value: this.url });
  }

  /** Limits the expensive routes and the routes that need no token more than the API's own limit does. */
  throttleRoutes({ expensiveThrottling }: Stage, created: readonly HttpRoute[]): void {
    const limits = (routes as readonly Route[]).flatMap((route) => {
      const limit = route.isExpensive ? expensiveThrottling : 'access' in route ? undefined : publicThrottlingOf(route);
      return limit ? methodsOf(route, routes).map((method) => [`${method} ${route.path}`, limit] as const) : [];
    });
    this.throttle(Object.fromEntries(limits), created);
  }

  /**
   * Limits some routes more than the API's own limit does. CloudFormation must create the routes before the API's stage that
   * throttles them.
   * @param limits by route, such as `GET /docs`
   */
  throttle(limits: Record<string, Throttling>, created: readonly HttpRoute[]): void {
    for (const [route, { requestsPerSecond, burst }] of Object.entries(limits)) {
      this.settings[route] = { ThrottlingRateLimit: requestsPerSecond, ThrottlingBurstLimit: burst };
    }
    this.deployed.routeSettings = this.settings;
    this.deployed.node.addDependency(...created);
  }

  private domainOf(stage: Stage, { name, certificateArn }: NonNullable<Stage['domain']>): DomainName {
    const zone = zoneOf(this, stage);
    if (certificateArn === undefined && !zone)
      Annotations.of(this).addError(
        `The domain ${name} of the stage ${stage.name} needs a certificateArn, or the stage a hostedZone.`,
      );
    const domain = new DomainName(this, 'Domain', {
      domainName: name,
      certificate:
        certificateArn === undefined
          ? new Certificate(this, 'Certificate', { domainName: name, validation: CertificateValidation.fromDns(zone) })
          : Certificate.fromCertificateArn(this, 'Certificate', certificateArn),
    });
    if (zone) {
      const target = new ApiGatewayv2DomainProperties(domain.regionalDomainName, domain.regionalHostedZoneId);
      new ARecord(this, 'Record', { zone, recordName: `${name}.`, target: RecordTarget.fromAlias(target) });
    }
    const description = `The target of the DNS record of ${name}`;
    new CfnOutput(this, 'DomainTarget', { value: domain.regionalDomainName, description });
    return domain;
  }
}

function corsOf(origins: readonly string[]): CorsPreflightOptions {
  return {
    allowOrigins: [...origins],
    allowMethods: apiCors.methods.map((method) => CorsHttpMethod[method]),
    allowHeaders: [...apiCors.allowHeaders],
    exposeHeaders: [...apiCors.exposeHeaders],
    maxAge: Duration.seconds(apiCors.maxAgeInSeconds),
  };
}

/** The routes of the API and their functions, created from the route table. */
export class Endpoints extends Construct {
  constructor(scope: Construct, id: string, api: ServiceApi, props: CommonProps) {
    super(scope, id);
    const integrations = new Map<FunctionName, PathIntegration>();
    const added: HttpRoute[] = [];
    for (const route of routes) {
      const { name } = route;
      const integration = integrations.get(name) ?? new PathIntegration(name, new ServiceFunction(this, route, props).lambda);
      integrations.set(name, integration);
      const routesOfApi = api.http.addRoutes({
        path: route.path,
        methods: methodsOf(route, routes).map((method) => HttpMethod[method]),
        integration,
        authorizer: 'access' in route ? api.authorizer : new HttpNoneAuthorizer(),
      });
      added.push(...routesOfApi);
      if ('access' in route) continue;
      for (const construct of routesOfApi)
        acknowledge(construct, { 'AwsSolutions-APIG4': 'Public by design. It reveals nothing about any domain.' });
    }
    api.throttleRoutes(props.stage, added);
  }
}

/**
 * The integration of a function with API Gateway. It permits API Gateway to call the function once for each path, for all methods
 * of the path.
 */
class PathIntegration extends HttpLambdaIntegration {
  private readonly permitted = new Set<string | undefined>();

  protected override completeBind(options: HttpRouteIntegrationBindOptions): void {
    const { path } = options.route;
    if (this.permitted.has(path)) return;
    this.permitted.add(path);
    super.completeBind(options);
  }
}

/** The limit of requests for each file of the API reference at /docs, which anyone may read (docs/cost.md). */
const referenceThrottling = { requestsPerSecond: 2, burst: 20 };

/**
 * The routes of the API reference, and the function that serves the reference's files. The function may do nothing but write its
 * log.
 */
export class Reference extends Construct {
  constructor(scope: Construct, id: string, stage: Stage, api: ServiceApi, folder: string) {
    super(scope, id);
    const lambda = loggedFunction(this, {
      stage,
      name: 'reference',
      description: 'The API reference at /docs',
      code: Code.fromAsset(folder),
      memorySize: 256,
      timeout: Duration.seconds(10),
      may: [],
      isTraced: false,
    });
    acknowledge(lambda, {
      'Serverless-LambdaDLQ': 'Its caller waits for the response.',
      'Serverless-LambdaTracing': 'It calls nothing, so there is nothing to trace.',
    });
    const integration = new HttpLambdaIntegration('Files', lambda, { scopePermissionToRoute: false });
    const routes = referencePaths.flatMap((path) =>
      api.http.addRoutes({ path, methods: [HttpMethod.GET], integration, authorizer: new HttpNoneAuthorizer() }),
    );
    for (const route of routes) acknowledge(route, { 'AwsSolutions-APIG4': 'Public by design, as the OpenAPI document is.' });
    api.throttle(Object.fromEntries(referencePaths.map((path) => [`GET ${path}`, referenceThrottling])), routes);
  }
}
