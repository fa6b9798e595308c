import { Duration } from 'aws-cdk-lib';
import {
  HttpMethod,
  HttpNoneAuthorizer,
  type HttpRoute,
  type HttpRouteIntegrationBindOptions,
} from 'aws-cdk-lib/aws-apigatewayv2';
import { Construct } from 'constructs';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { routes } from '../../shared/endpoints/endpoints.ts';
import { methodsOf, type Route } from '../../shared/http/route.ts';
import { acknowledge } from '../house/acknowledge.ts';
import type { FunctionName } from './functions.ts';
import type { Issuer, Stage } from '../stages/stage.ts';
import type { Resources } from '../house/permissions.ts';
import { reservedFor } from './reserved-concurrency.ts';
import type { ServiceApi } from './service-api.ts';
import { ServiceFunction, type CodeOf } from './service-function.ts';
import { loggedFunction } from '../house/logged-function.ts';
import { referencePaths } from '../../functions/reference/reference-files.ts';

export interface EndpointsProps {
  stage: Stage;
  api: ServiceApi;
  issuer: Issuer;
  resources: Resources;
  codeOf: CodeOf;
}

/**
 * The time limit of the functions of endpoints: less than the 30 seconds after which API Gateway times out, and more than the
 * longest wait with the 5 seconds of work before and after it.
 */
const timeout = Duration.seconds(29);

/**
 * The memory in MB of the functions that hold requests until something changes. Such a function costs money in proportion to its
 * memory while it waits.
 */
const memoryOfWaitsInMegabytes = 256;

/** The routes of the API and their functions, created from the route table. */
export class Endpoints extends Construct {
  constructor(scope: Construct, id: string, props: EndpointsProps) {
    super(scope, id);
    const integrations = new Map<FunctionName, PathIntegration>();
    const added: HttpRoute[] = [];
    for (const route of routes) {
      const integration = integrations.get(route.name) ?? this.integrationOf(route, props);
      integrations.set(route.name, integration);
      const routesOfApi = props.api.http.addRoutes({
        path: route.path,
        methods: methodsOf(route, routes).map((method) => HttpMethod[method]),
        integration,
        authorizer: 'access' in route ? props.api.authorizer : new HttpNoneAuthorizer(),
      });
      added.push(...routesOfApi);
      if ('access' in route) continue;
      for (const construct of routesOfApi)
        acknowledge(construct, 'AwsSolutions-APIG4', 'Public by design. It reveals nothing about any domain.');
    }
    props.api.throttleRoutes(props.stage, added);
  }

  private integrationOf(route: Route & { name: FunctionName }, props: EndpointsProps): PathIntegration {
    const { stage, issuer, resources, codeOf } = props;
    const { lambda } = new ServiceFunction(this, route.name, {
      stage,
      issuer,
      resources,
      codeOf,
      timeout,
      reservedConcurrency: reservedFor(route, stage),
      uses: route.uses,
      ...(route.waits ? { memoryInMegabytes: memoryOfWaitsInMegabytes } : {}),
    });
    return new PathIntegration(route.name, lambda);
  }
}

/**
 * The integration of a function with API Gateway. It permits API Gateway to call the function once for each path, for all methods
 * of the path.
 */
export class PathIntegration extends HttpLambdaIntegration {
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

export interface ReferenceProps {
  stage: Stage;
  api: ServiceApi;
  /** The folder of the function of the API reference with the files that it serves, as `npm run build` writes it. */
  folder: string;
}

/**
 * The routes of the API reference, and the function that serves the reference's files. The function may do nothing but write its
 * log.
 */
export class Reference extends Construct {
  constructor(scope: Construct, id: string, { stage, api, folder }: ReferenceProps) {
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
    acknowledge(lambda, 'Serverless-LambdaDLQ', 'Its caller waits for the response.');
    acknowledge(lambda, 'Serverless-LambdaTracing', 'It calls nothing, so there is nothing to trace.');
    const integration = new HttpLambdaIntegration('Files', lambda, { scopePermissionToRoute: false });
    const routes = referencePaths.flatMap((path) =>
      api.http.addRoutes({ path, methods: [HttpMethod.GET], integration, authorizer: new HttpNoneAuthorizer() }),
    );
    for (const route of routes) acknowledge(route, 'AwsSolutions-APIG4', 'Public by design, as the OpenAPI document is.');
    api.throttle(Object.fromEntries(referencePaths.map((path) => [`GET ${path}`, referenceThrottling])), routes);
  }
}
