import { join } from 'node:path';
import { Code } from 'aws-cdk-lib/aws-lambda';
import type { CodeOf } from './service/service-function.ts';

/** What `npm run build` has written. */
export interface BuiltFiles {
  codeOf: CodeOf;
  /** The folder with the gateway and the function that issues its certificate. Read only for a stage with a gateway. */
  gatewayFolder: string;
  /** Read only for a stage with a console. */
  consoleFolder: string;
  /** The folder of the function of the canary. Read only for a stage with a canary. */
  canaryFolder: string;
  /** The folder of the function of the API reference, with the files that it serves. */
  referenceFolder: string;
}

const dist = join(import.meta.dirname, '../dist');

/** What is beside this code, in this repository and in the published package. */
export const builtFiles: BuiltFiles = {
  codeOf: (name) => Code.fromAsset(join(dist, 'functions', name)),
  gatewayFolder: join(dist, 'gateway'),
  consoleFolder: join(dist, 'console'),
  canaryFolder: join(dist, 'canary'),
  referenceFolder: join(dist, 'reference'),
};
