import { Key, KeySpec, KeyUsage } from 'aws-cdk-lib/aws-kms';
import type { Construct } from 'constructs';
import { nameIn, type Stage } from '../stages/stage.ts';

/** The authority's key, on P-256. Without it, every CVM has to be enrolled again. */
export class CvmAuthorityKey extends Key {
  constructor(scope: Construct, id: string, stage: Stage) {
    super(scope, id, {
      alias: cvmAuthorityAlias(stage),
      keySpec: KeySpec.ECC_NIST_P256,
      keyUsage: KeyUsage.SIGN_VERIFY,
      multiRegion: true,
      description: 'Signs the certificates of CVMs and of their gateway',
      removalPolicy: stage.removalPolicy,
    });
  }
}

/** The name by which enrolment finds the key. */
export function cvmAuthorityAlias(stage: Stage): string {
  return `alias/${nameIn(stage, 'cvm-authority')}`;
}
