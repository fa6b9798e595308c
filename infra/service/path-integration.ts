import type { HttpRouteIntegrationBindOptions } from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';

/**
 * The integration of a function. API Gateway gets the permission to call it once for each path: the permission is for all methods
 * of the path, so those of further methods would say the same.
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
