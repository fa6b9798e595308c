import { Annotations, CfnOutput, Duration, RemovalPolicy } from 'aws-cdk-lib';
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
} from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpJwtAuthorizer } from 'aws-cdk-lib/aws-apigatewayv2-authorizers';
import { Certificate, CertificateValidation } from 'aws-cdk-lib/aws-certificatemanager';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { ARecord, RecordTarget } from 'aws-cdk-lib/aws-route53';
import { ApiGatewayv2DomainProperties } from 'aws-cdk-lib/aws-route53-targets';
import { Construct } from 'constructs';
import { type Route, methodsOf } from '../../shared/http/route.ts';
import { type Throttling, nameIn, type Issuer, type Stage } from '../stages/stage.ts';
import { apiCors } from '../../shared/http/cors.ts';
import { routes } from '../../shared/endpoints/endpoints.ts';
import { zoneOf } from '../house/stage-stack.ts';

/**
 * Returns the requests that API Gateway admits to a route that needs no token. The limits are low, since anyone may run up a bill
 * there (docs/cost.md).
 */
function publicThrottlingOf({ name }: Pick<Route, 'name'>): Throttling {
  return name === 'service/openapi' ? { requestsPerSecond: 2, burst: 20 } : { requestsPerSecond: 10, burst: 50 };
}

/** The fields of an entry of the API's access log. Every request has an entry, also a request that reaches no function. */
const accessLogFormat = {
  requestId: '$context.requestId',
  time: '$context.requestTime',
  ip: '$context.identity.sourceIp',
  userAgent: '$context.identity.userAgent',
  route: '$context.routeKey',
  path: '$context.path',
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

export interface ServiceApiProps {
  stage: Stage;
  issuer: Issuer;
  /** The origins whose pages may call the API. */
  origins: readonly string[];
}

/** The HTTP API of a stage: its authorizer, CORS, throttling, custom domain and access log. */
export class ServiceApi extends Construct {
  readonly http: HttpApi;
  readonly authorizer: HttpJwtAuthorizer;
  readonly url: string;
  private readonly deployed: CfnStage;
  private readonly settings: Record<string, { ThrottlingRateLimit: number; ThrottlingBurstLimit: number }> = {};

  constructor(scope: Construct, id: string, { stage, issuer, origins }: ServiceApiProps) {
    super(scope, id);
    this.authorizer = new HttpJwtAuthorizer('Issuer', issuer.url, { jwtAudience: [...issuer.audience] });
    this.http = new HttpApi(this, 'Http', {
      apiName: nameIn(stage, 'api'),
      createDefaultStage: false,
      ...(origins.length > 0 ? { corsPreflight: corsOf(origins) } : {}),
      disableExecuteApiEndpoint: stage.domain !== undefined,
    });
    const accessLog = new LogGroup(this, 'AccessLog', {
      logGroupName: `/aws/vendedlogs/${nameIn(stage, 'api')}`,
      retention: stage.logRetention,
      removalPolicy: RemovalPolicy.DESTROY,
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
        format: AccessLogFormat.custom(JSON.stringify(accessLogFormat)),
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
    new CfnOutput(this, 'DomainTarget', {
      value: domain.regionalDomainName,
      description: `The target of the DNS record of ${name}`,
    });
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
