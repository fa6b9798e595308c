import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { nameIn, type Stage } from '../stage.ts';

/** What the commands of operators need of a deployed stage. */
export interface StageResources {
  apiUrl: string;
  tableName: string;
  bucketName: string;
  stateMachineArn: string;
  /** Undefined if the stage has an issuer of its own. */
  userPool: { id: string; clientId: string } | undefined;
}

/** Reads the outputs of a stage's stacks. The caller's credentials must be allowed to describe them. */
export async function resourcesOf(stage: Stage): Promise<StageResources> {
  const client = new CloudFormationClient({ region: stage.region });
  try {
    const [state, service] = await Promise.all(['state', 'service'].map((name) => outputsOf(client, nameIn(stage, name))));
    const from = (outputs: Output[] | undefined, prefix: string): string => {
      const found = outputs?.find(([name]) => name.startsWith(prefix));
      if (!found) throw new Error(`The stage ${stage.name} lacks the output ${prefix}. Deploy it again.`);
      return found[1];
    };
    const own = () => ({ id: from(state, 'UsersPoolId'), clientId: from(state, 'UsersClientId') });
    return {
      apiUrl: from(service, 'ApiUrl'),
      tableName: from(state, 'TableName'),
      bucketName: from(state, 'ContentBucketName'),
      stateMachineArn: from(service, 'StateMachineArn'),
      userPool: stage.issuer ? undefined : (stage.existing?.userPool ?? own()),
    };
  } finally {
    client.destroy();
  }
}

type Output = [name: string, value: string];

async function outputsOf(client: CloudFormationClient, StackName: string): Promise<Output[]> {
  const { Stacks = [] } = await client.send(new DescribeStacksCommand({ StackName })).catch((cause: unknown) => {
    const message = `The stack ${StackName} cannot be read. Is it deployed, and do you have its account's credentials?`;
    throw new Error(message, { cause });
  });
  return Stacks.flatMap(({ Outputs = [] }) =>
    Outputs.map(({ OutputKey = '', OutputValue = '' }): Output => [OutputKey, OutputValue]),
  );
}
