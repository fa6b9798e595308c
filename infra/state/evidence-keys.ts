import { Key, KeySpec, KeyUsage } from 'aws-cdk-lib/aws-kms';
import { Construct } from 'constructs';
import type { Stage } from '../stages/stage.ts';

/** One key on P-256 for each name of the stage. KMS does not rotate such keys. The latest name signs. */
export class EvidenceKeys extends Construct {
  readonly signingKeyArn: string;
  readonly publishedKeyArns: readonly string[];

  constructor(scope: Construct, id: string, { evidenceKeys, removalPolicy, existing }: Stage) {
    super(scope, id);
    const arns = evidenceKeys.map((name) => {
      const replica = existing?.evidenceKeyArns?.[name];
      if (replica !== undefined) return replica;
      const { keyArn } = new Key(this, name, {
        keySpec: KeySpec.ECC_NIST_P256,
        keyUsage: KeyUsage.SIGN_VERIFY,
        multiRegion: true,
        description: `Signs the evidence of runs (${name})`,
        removalPolicy,
      });
      return keyArn;
    });
    this.publishedKeyArns = arns;
    this.signingKeyArn = arns.at(-1) ?? '';
  }
}
