import { join } from 'node:path';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { canaryFolder } from './bundles/bundle-canary.ts';
import { bundlesFolder } from './bundles/bundle-functions.ts';
import { gatewayFolder } from './bundles/bundle-gateway.ts';
import { referenceFolder } from './bundles/bundle-reference.ts';
import { consoleFolder } from './console/console-folder.ts';
import type { BuiltFiles } from './service-stage.ts';

/** What `npm run build` has written in this directory. */
export const builtFiles: BuiltFiles = {
  codeOf: (name) => Code.fromAsset(join(bundlesFolder, name)),
  gatewayFolder,
  consoleFolder,
  canaryFolder,
  referenceFolder,
};
