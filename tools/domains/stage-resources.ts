import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { nameIn, type Stage } from '../../infra/stages/stage.ts';

/** The resources of a deployed stage that the commands of operators need. */
export interface StageResources {
  apiUrl: string;
  tableName: string;
  bucketName: string;
  stateMachineArn: string;
  /** The identifiers of the user pool and its client. Undefined if the stage has an external issuer. */
  userPool: { id: string; clientId: string } | undefined;
}

/**
 * Reads the names of a stage's resources from the outputs of its stacks. The caller's credentials must be allowed to describe the
 * stacks.
 */
export async function resourcesOf(stage: Stage): Promise<StageResources> {
  const [state, service] = await Promise.all([outputsOf(stage, 'state'), outputsOf(stage, 'service')]);
  const own = () => ({ id: state('UsersPoolId'), clientId: state('UsersClientId') });
  return {
    apiUrl: service('ApiUrl'),
    tableName: state('TableName'),
    bucketName: state('ContentBucketName'),
    stateMachineArn: service('StateMachineArn'),
    userPool: stage.issuer ? undefined : (stage.existing?.userPool ?? own()),
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
