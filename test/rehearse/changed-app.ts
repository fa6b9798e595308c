import { App } from 'aws-cdk-lib';
import { ComputationServiceStage } from '../../infra/computation-service-stage.ts';
import type { Stage } from '../../infra/stages/stage.ts';
import { stages } from '../../infra/stages/stages.ts';

const { REHEARSED_STAGE: name, REHEARSED_CHANGES: changes = '{}' } = process.env;

/** The app with one stage, after an operator has changed its row. */
const app = new App();
for (const stage of stages.filter((each) => each.name === name)) {
  new ComputationServiceStage(app, stage.name, { ...stage, ...(JSON.parse(changes) as Partial<Stage>) });
}
