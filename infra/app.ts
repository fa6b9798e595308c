import { join } from 'node:path';
import { App, Validations } from 'aws-cdk-lib';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { AwsSolutionsChecks, ServerlessChecks } from 'cdk-nag';
import { bundlesFolder } from './bundles/bundle-functions.ts';
import { consoleFolder } from './console/console-folder.ts';
import { ServiceStage } from './service-stage.ts';
import { stages } from './stages.ts';

const app = new App();
Validations.of(app).addPlugins(new AwsSolutionsChecks(app), new ServerlessChecks(app));
for (const stage of stages) {
  new ServiceStage(app, stage, { codeOf: (name) => Code.fromAsset(join(bundlesFolder, name)), consoleFolder });
}
