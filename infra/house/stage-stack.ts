import { Stack, Tags } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { nameIn, type Stage } from '../stages/stage.ts';

/** A stack of a stage, with the stage's name prefix, tags and termination protection. */
export class StageStack extends Stack {
  constructor(scope: Construct, id: string, stage: Stage, description: string) {
    super(scope, id, {
      stackName: nameIn(stage, id.toLowerCase()),
      description: `${description} (${stage.name})`,
      terminationProtection: stage.terminationProtection,
    });
    Tags.of(this).add('service', 'computation-management');
    Tags.of(this).add('stage', stage.name);
  }
}
