import { App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks, ServerlessChecks } from 'cdk-nag';
import { ComputationServiceStage } from './computation-service-stage.ts';
import { stages } from './stages/stages.ts';

const app = new App();
Validations.of(app).addPlugins(new AwsSolutionsChecks(app), new ServerlessChecks(app));
for (const stage of stages) new ComputationServiceStage(app, stage.name, { ...stage, rows: stages });
