import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { nameIn, type Stage } from '../../infra/stages/stage.ts';
import { CognitoIdentityProviderClient } from '@aws-sdk/client-cognito-identity-provider';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { S3Client } from '@aws-sdk/client-s3';
import { SFNClient } from '@aws-sdk/client-sfn';
import { linkLifetimeInSeconds } from '../../shared/rows/content-store.ts';
import { Deadline, type Clock } from '../../shared/runtime/deadline.ts';
import { changesEndInMilliseconds, closeDomain } from '../../shared/rows/closed-domain.ts';
import { documentClient } from '../../shared/table/table.ts';
import { PoolUsers } from './pool-users.ts';
import type { Closing, DomainStorage } from '../../shared/domains/remove-domain.ts';

/** The resources of a deployed stage that the commands of operators need. */
export interface StageResources {
  tableName: string;
  bucketName: string;
  stateMachineArn: string;
  /** The identifier of the user pool. Undefined if the stage has an external issuer. */
  userPoolId: string | undefined;
}

/**
 * Reads the names of a stage's resources from the outputs of its stacks. The caller's credentials must be allowed to describe the
 * stacks.
 */
export async function resourcesOf(stage: Stage): Promise<StageResources> {
  const [state, service] = await Promise.all([outputsOf(stage, 'state'), outputsOf(stage, 'service')]);
  return {
    tableName: state('TableName'),
    bucketName: state('ContentBucketName'),
    stateMachineArn: service('StateMachineArn'),
    userPoolId: stage.issuer ? undefined : (stage.existing?.userPool?.id ?? state('UsersPoolId')),
  };
}

/**
 * Reads the outputs of one stack of a stage. The CDK adds a hash to the names of some outputs.
 * @returns a function that returns the output whose name begins with a prefix, and throws an Error if there is none
 */
export async function outputsOf(stage: Stage, stack: 'state' | 'service' | 'gateway'): Promise<(prefix: string) => string> {
  const StackName = nameIn(stage, stack);
  const client = new CloudFormationClient({ region: stage.region });
  try {
    const { Stacks = [] } = await client.send(new DescribeStacksCommand({ StackName }));
    const outputs = Stacks.flatMap(({ Outputs = [] }) => Outputs);
    return (prefix) => {
      const found = outputs.find(({ OutputKey = '' }) => OutputKey.startsWith(prefix))?.OutputValue;
      if (found) return found;
      throw new Error(`The stack ${StackName} lacks the output ${prefix}. Deploy it again.`);
    };
  } catch (cause) {
    const message = `The stack ${StackName} cannot be read. Is it deployed, and do you have its account's credentials?`;
    throw new Error(message, { cause });
  } finally {
    client.destroy();
  }
}

/** The most milliseconds that an operation on a stage's data may take. Reading all rows of a large domain is one operation. */
const longestOperationInMilliseconds = 15 * 60_000;

/**
 * The number of attempts of a call of AWS. There are many, so that throttling is waited for: a removal competes with the service
 * for the capacity of the table.
 */
const maxAttempts = 12;

/**
 * The milliseconds until reads that have begun must have ended. A request has 5 seconds, and a fold of a list's log takes about
 * as long.
 */
const readsEndInMilliseconds = 10_000;

/**
 * Opens the data of a deployed stage, with the credentials of the environment.
 * @param tokensLiveInSeconds the time for which a token of a user of the domain is valid
 */
export function openStageData(
  stage: Stage,
  resources: StageResources,
  { tokensLiveInSeconds, clock }: { tokensLiveInSeconds: number; clock: Clock },
): DomainStorage {
  const at = { region: stage.region, maxAttempts };
  const document = documentClient(new DynamoDBClient(at));
  const table = { name: resources.tableName, document, deadline: () => new Deadline(longestOperationInMilliseconds) };
  // The address of an emulator is an IP address or localhost, which takes no bucket in front.
  const s3 = new S3Client({ ...at, forcePathStyle: true });
  const cognito = new CognitoIdentityProviderClient({ region: stage.region });
  return {
    clock,
    table,
    content: { client: s3, bucket: resources.bucketName, deadline: table.deadline },
    executions: { client: new SFNClient(at), stateMachineArn: resources.stateMachineArn },
    users: resources.userPoolId === undefined ? undefined : new PoolUsers(cognito, resources.userPoolId),
    close: async (domain, fromNow) => {
      const closedAt = await closeDomain(table, domain, { now: clock.now(), fromNow, tokensLiveInSeconds });
      return closingOf(closedAt, { hasLimit: stage.domainLimit !== undefined, tokensLiveInSeconds });
    },
    readsEndInMilliseconds,
  };
}

/**
 * Returns the times at which a closed domain gets no changes and no uploads any more. Without a limit of changes by domain,
 * tokens can make changes until they expire. An upload may begin as late as the last change, and take an hour.
 */
export function closingOf(
  closedAt: number,
  { hasLimit, tokensLiveInSeconds }: { hasLimit: boolean; tokensLiveInSeconds: number },
): Closing {
  const tokensEndAt = closedAt + tokensLiveInSeconds * 1_000;
  const changesEndAt = changesEndInMilliseconds + (hasLimit ? closedAt : tokensEndAt);
  return { changesEndAt, isOverAt: Math.max(tokensEndAt, changesEndAt + linkLifetimeInSeconds * 1_000) };
}
