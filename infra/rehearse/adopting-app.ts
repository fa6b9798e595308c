import { App } from 'aws-cdk-lib';
import { builtFiles } from '../built-files.ts';
import { ServiceStage } from '../service-stage.ts';
import { stages } from '../stages.ts';

const { DRILL_STAGE: name, DRILL_TABLE: tableName = '' } = process.env;

/** The app after an operator has named a restored table in the row of a stage (docs/restore.md, step 3). */
const app = new App();
for (const stage of stages.filter((each) => each.name === name)) {
  // The drill restores data. An event bus would need the ARN of the restored table's stream, which is switched on by hand.
  new ServiceStage(app, { ...stage, eventBus: false, existing: { tableName } }, builtFiles);
}
