import { Key, type IKey, KeySpec, KeyUsage } from 'aws-cdk-lib/aws-kms';
import { Construct } from 'constructs';
import { Rule } from 'aws-cdk-lib/aws-events';
import { SqsQueue } from 'aws-cdk-lib/aws-events-targets';
import { type Stage, nameIn } from '../stages/stage.ts';
import { acknowledge } from '../house/acknowledge.ts';
import { DeadLetterQueue } from '../house/dead-letter-queue.ts';

/**
 * Returns the KMS key that encrypts the table and the content of a stage. The key exists outside of the stage. @param arn of the
 * key
 */
export function dataKeyOf(scope: Construct, arn: string): IKey {
  return (scope.node.tryFindChild('DataKey') as IKey | undefined) ?? Key.fromKeyArn(scope, 'DataKey', arn);
}

/**
 * The KMS keys that sign evidence, on the curve P-256: one for each name in `evidenceKeys` of the stage. KMS does not rotate such
 * keys. The key of the last name signs.
 */
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

/**
 * The KMS key that seals the private keys of agents before they are stored (shared/rows/agent-config.ts). KMS rotates the key
 * each year.
 */
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

/**
 * The KMS key of the CVM authority, on the curve P-256, which signs the certificates of CVMs. If the key is lost, every CVM has
 * to be enrolled again.
 */
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

/** Returns the alias by which the enrolment of CVMs finds the KMS key of the CVM authority. */
export function cvmAuthorityAlias(stage: Stage): string {
  return `alias/${nameIn(stage, 'cvm-authority')}`;
}

/**
 * A rule and a queue that keep for 14 days who has disabled a KMS key of the stage, or asked for its deletion. They need a
 * CloudTrail trail of management events in the account.
 */
export class KeyChanges extends Construct {
  constructor(scope: Construct, id: string, stage: Stage, arns: readonly (string | undefined)[]) {
    super(scope, id);
    const queue = new DeadLetterQueue(this, 'Queue', keyChangesName(stage));
    const rule = new Rule(this, 'Rule', {
      description: 'A key of the stage was disabled, or is to be deleted',
      eventPattern: {
        source: ['aws.kms'],
        detailType: ['AWS API Call via CloudTrail'],
        detail: { eventName: ['DisableKey', 'ScheduleKeyDeletion'], resources: { ARN: arns.filter((arn) => arn !== undefined) } },
      },
      targets: [new SqsQueue(queue)],
    });
    acknowledge(
      rule,
      'Serverless-EventBusDLQ',
      'Its target is a queue. Calls that need the key fail as well, and have their alarms.',
    );
  }
}

export function keyChangesName(stage: Stage): string {
  return nameIn(stage, 'key-changes');
}
