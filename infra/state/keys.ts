import { Key, type IKey, type KeyProps, KeySpec, KeyUsage } from 'aws-cdk-lib/aws-kms';
import { Construct } from 'constructs';
import { Rule } from 'aws-cdk-lib/aws-events';
import { SqsQueue } from 'aws-cdk-lib/aws-events-targets';
import { type Stage, nameIn } from '../stages/stage.ts';
import { acknowledge, DeadLetterQueue } from '../house.ts';

/**
 * Returns the KMS key that encrypts the table and the content of a stage. The key exists outside of the stage. @param arn of the
 * key
 */
export function dataKeyOf(scope: Construct, arn: string): IKey {
  return (scope.node.tryFindChild('DataKey') as IKey | undefined) ?? Key.fromKeyArn(scope, 'DataKey', arn);
}

/** The properties of every key of the stage. A key of several Regions can never be made later, and its replica survives this Region. */
function keyOf({ removalPolicy }: Stage, description: string): KeyProps {
  return { description, removalPolicy, multiRegion: true };
}

function signingKeyOf(stage: Stage, description: string, keySpec = KeySpec.ECC_NIST_P256): KeyProps {
  return { ...keyOf(stage, description), keySpec, keyUsage: KeyUsage.SIGN_VERIFY };
}

/**
 * The KMS keys that sign evidence, on the curve P-256: one for each name in `evidenceKeys` of the stage. KMS does not rotate such
 * keys. The key of the last name signs.
 */
export class EvidenceKeys extends Construct {
  readonly signingKeyArn: string;
  readonly publishedKeyArns: readonly string[];

  constructor(scope: Construct, id: string, stage: Stage) {
    super(scope, id);
    this.publishedKeyArns = stage.evidenceKeys.map(
      (name) =>
        stage.existing?.evidenceKeyArns?.[name] ??
        new Key(this, name, signingKeyOf(stage, `Signs the evidence of runs (${name})`)).keyArn,
    );
    this.signingKeyArn = this.publishedKeyArns.at(-1) ?? '';
  }
}

/**
 * Returns the ARN of the KMS key that seals the private keys of agents before they are stored (shared/rows/agent-config.ts). KMS
 * rotates the key each year.
 */
export function sealingKeyOf(scope: Construct, stage: Stage): string {
  const given = { ...keyOf(stage, 'Seals the private keys of agents'), enableKeyRotation: true };
  return stage.existing?.sealingKeyArn ?? new Key(new Construct(scope, 'SealingKey'), 'Key', given).keyArn;
}

/**
 * Returns the ARN of the KMS key that signs the checkpoints of the stage's log, by Ed25519. The name of the log follows from it
 * (shared/history), so the key is never replaced.
 */
export function logKeyOf(scope: Construct, stage: Stage): string {
  const given = signingKeyOf(stage, 'Signs the checkpoints of the log', KeySpec.ECC_NIST_EDWARDS25519);
  return stage.existing?.logKeyArn ?? new Key(new Construct(scope, 'LogKey'), 'Key', given).keyArn;
}

/**
 * Returns the ARN of the KMS key of the CVM authority, on the curve P-256, which signs the certificates of CVMs. If the key is
 * lost, every CVM has to be enrolled again.
 */
export function cvmAuthorityKeyOf(scope: Construct, stage: Stage): string {
  const given = signingKeyOf(stage, 'Signs the certificates of CVMs and of their gateway');
  return new Key(scope, 'CvmAuthorityKey', { alias: cvmAuthorityAlias(stage), ...given }).keyArn;
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
    acknowledge(rule, {
      'Serverless-EventBusDLQ': 'Its target is a queue. Calls that need the key fail as well, and have their alarms.',
    });
  }
}

export function keyChangesName(stage: Stage): string {
  return nameIn(stage, 'key-changes');
}
