import { Stack, Tags } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { HostedZone, type IHostedZone } from 'aws-cdk-lib/aws-route53';
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

/** Returns the Route 53 hosted zone of a stage, or undefined if the stage names none. */
export function zoneOf(scope: Construct, { hostedZone }: Stage): IHostedZone | undefined {
  if (!hostedZone) return undefined;
  return HostedZone.fromHostedZoneAttributes(scope, 'Zone', { hostedZoneId: hostedZone.id, zoneName: hostedZone.name });
}
