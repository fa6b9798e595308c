import { HostedZone, type IHostedZone } from 'aws-cdk-lib/aws-route53';
import type { Construct } from 'constructs';
import type { Stage } from '../stages/stage.ts';

/** Returns the hosted zone of a stage that has one. */
export function zoneOf(scope: Construct, { hostedZone }: Stage): IHostedZone | undefined {
  if (!hostedZone) return undefined;
  return HostedZone.fromHostedZoneAttributes(scope, 'Zone', { hostedZoneId: hostedZone.id, zoneName: hostedZone.name });
}
