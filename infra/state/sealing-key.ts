import { Key } from 'aws-cdk-lib/aws-kms';
import { Construct } from 'constructs';
import type { Stage } from '../stages/stage.ts';

/** The key that seals the private keys of agents before they are stored (shared/rows/agent-config.ts). Rotated each year. */
export class SealingKey extends Construct {
  readonly sealingKeyArn: string;

  constructor(scope: Construct, id: string, { removalPolicy, existing }: Stage) {
    super(scope, id);
    if (existing?.sealingKeyArn !== undefined) {
      this.sealingKeyArn = existing.sealingKeyArn;
      return;
    }
    const { keyArn } = new Key(this, 'Key', {
      description: 'Seals the private keys of agents',
      enableKeyRotation: true,
      multiRegion: true, // can never be changed later, and a replica in another Region survives this one (docs/restore.md)
      removalPolicy,
    });
    this.sealingKeyArn = keyArn;
  }
}
