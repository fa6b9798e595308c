import { Duration } from 'aws-cdk-lib';
import { HttpMethod, HttpNoneAuthorizer } from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { acknowledge } from '../house/acknowledge.ts';
import { loggedFunction } from '../house/logged-function.ts';
import { referencePaths } from '../../functions/reference/reference-files.ts';
import type { Stage } from '../stages/stage.ts';
import type { ServiceApi } from './service-api.ts';

/** The limit for each file, which anyone may read (docs/cost.md). */
export const referenceThrottling = { requestsPerSecond: 2, burst: 20 };

export interface ReferenceProps {
  stage: Stage;
  api: ServiceApi;
  /** The function with its files. Built by `npm run build`. */
  folder: string;
}

/** A function of its own serves the files of /docs: it may do nothing but write its log. */
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
