import { Annotations, Duration } from 'aws-cdk-lib';
import { HttpMethod, HttpNoneAuthorizer } from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import { Construct } from 'constructs';
import { routes } from '../../shared/endpoints/endpoints.ts';
import type { Route } from '../../shared/http/route.ts';
import { acknowledge } from '../acknowledge.ts';
import type { FunctionName } from '../bundles/function-names.ts';
import type { Issuer, Stage } from '../stages.ts';
import type { Resources } from './permissions.ts';
import type { ServiceApi } from './service-api.ts';
import { ServiceFunction, type CodeOf } from './service-function.ts';

export interface EndpointsProps {
  stage: Stage;
  api: ServiceApi;
  issuer: Issuer;
  resources: Resources;
  codeOf: CodeOf;
}

/** Less than the 30 seconds after which API Gateway times out. More than a wait and the 5 seconds of work before and after it. */
const timeout = Duration.seconds(29);

/** A wait is paid by the memory. */
const memoryOfWaitsInMegabytes = 256;

/** The routes of the API and their functions, created from the route table. */
export class Endpoints extends Construct {
  constructor(scope: Construct, id: string, props: EndpointsProps) {
    super(scope, id);
    this.checkConcurrency(props.stage);
    const integrations = new Map<FunctionName, HttpLambdaIntegration>();
    for (const route of routes) {
      const integration = integrations.get(route.name) ?? this.integrationOf(route, props);
      integrations.set(route.name, integration);
      const added = props.api.http.addRoutes({
        path: route.path,
        methods: [HttpMethod[route.method]],
        integration,
        authorizer: 'access' in route ? props.api.authorizer : new HttpNoneAuthorizer(),
      });
      if ('access' in route) continue;
      for (const construct of added)
        acknowledge(construct, 'AwsSolutions-APIG4', 'Public by design. It reveals nothing about any domain.');
    }
  }

  /** Prints what the account must have. A deployment to a smaller account fails. */
  private checkConcurrency({ name, waits: { perStage, concurrency } }: Stage): void {
    if (concurrency === undefined) return;
    if (concurrency <= perStage) throw new TypeError(`${name}: waits.concurrency must be more than waits.perStage.`);
    const reserved = new Set(routes.filter((route: Route) => route.waits).map((route) => route.name)).size * concurrency;
    Annotations.of(this).addInfo(
      `Reserves ${reserved} concurrent executions for functions that wait. Lambda keeps 100 unreserved, so the account needs a limit ` +
        `of ${reserved + 100} or more in this region. See waits in docs/deploy.md.`,
    );
  }

  private integrationOf(route: Route & { name: FunctionName }, props: EndpointsProps): HttpLambdaIntegration {
    const { stage, issuer, resources, codeOf } = props;
    const { lambda } = new ServiceFunction(this, route.name, {
      stage,
      issuer,
      resources,
      codeOf,
      timeout,
      uses: route.uses,
      ...(route.waits ? { memoryInMegabytes: memoryOfWaitsInMegabytes, concurrency: stage.waits.concurrency } : {}),
    });
    return new HttpLambdaIntegration(route.name, lambda);
  }
}
