import type { HttpRouteIntegrationBindOptions } from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';

/** API Gateway gets the permission to call the function once for each path, which is for all methods of the path. */
export class PathIntegration extends HttpLambdaIntegration {
  private readonly permitted = new Set<string | undefined>();

  protected override completeBind(options: HttpRouteIntegrationBindOptions): void {
    const { path } = options.route;
    if (this.permitted.has(path)) return;
    this.permitted.add(path);
    super.completeBind(options);
  }
}
