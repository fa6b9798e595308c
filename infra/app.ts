import { join } from 'node:path';
import { App, Validations } from 'aws-cdk-lib';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { AwsSolutionsChecks, ServerlessChecks } from 'cdk-nag';
import { bundlesFolder } from './bundles/bundle-functions.ts';
import { gatewayFolder } from './bundles/bundle-gateway.ts';
import { consoleFolder } from './console/console-folder.ts';
import type { CodeOf } from './service/service-function.ts';
import { ServiceStage } from './service-stage.ts';
import { stages } from './stages.ts';

const app = new App();
Validations.of(app).addPlugins(new AwsSolutionsChecks(app), new ServerlessChecks(app));
const codeOf: CodeOf = (name) => Code.fromAsset(join(bundlesFolder, name));
for (const stage of stages) new ServiceStage(app, stage, { codeOf, gatewayFolder, consoleFolder });
