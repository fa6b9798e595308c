import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { bundlesFolder } from '../bundles/bundle-functions.ts';
import { gatewayFolder } from '../bundles/bundle-gateway.ts';
import { consoleFolder } from '../console/console-folder.ts';
import type { CodeOf } from '../service/service-function.ts';
import { ServiceStage } from '../service-stage.ts';
import { stages } from '../stages.ts';

const { DRILL_STAGE: name, DRILL_TABLE: tableName = '' } = process.env;

/** The app after an operator has named a restored table in the row of a stage (docs/restore.md, step 3). */
const app = new App();
const codeOf: CodeOf = (each) => Code.fromAsset(join(bundlesFolder, each));
for (const stage of stages.filter((each) => each.name === name)) {
  new ServiceStage(app, { ...stage, existing: { tableName } }, { codeOf, gatewayFolder, consoleFolder });
}
