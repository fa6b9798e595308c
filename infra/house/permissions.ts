import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Uses } from '../../shared/runtime/uses.ts';

/** The resources that functions access. The ARNs of the state machine and of functions are built from their names: they refer to each other. */
export interface Resources {
  tableName: string;
  tableArn: string;
  streamArn: string;
  bucketName: string;
  contentArn: string;
  stateMachineArn: string;
  signingKeyArn: string;
  sealingKeyArn: string;
  publishedKeyArns: readonly string[];
  /** Encrypts table and content. Undefined: AWS's own keys do. */
  dataKeyArn: string | undefined;
  purgeFunctionArn: string;
  /** Where Lambda is asked to call it. */
  purgeUrl: string;
}

/** What callers of the table and the bucket need of the key that encrypts them. */
const ofDataKey = ['Decrypt', 'DescribeKey', 'Encrypt', 'GenerateDataKey', 'ReEncryptFrom', 'ReEncryptTo'];

/** Returns statements that allow exactly the actions in `uses`. */
export function permissionsFor(uses: Uses, resources: Resources): PolicyStatement[] {
  const {
    tableArn,
    streamArn,
    contentArn,
    stateMachineArn,
    signingKeyArn,
    sealingKeyArn,
    publishedKeyArns,
    purgeFunctionArn,
    dataKeyArn,
  } = resources;
  const actions = uses.stateMachine ?? [];
  return [
    ...allow('dynamodb', uses.table, tableArn),
    ...allow('s3', uses.content, `${contentArn}/content/*`),
    ...allow('s3', uses.bucket, contentArn),
    ...allow(
      'states',
      actions.filter((action) => action !== 'DescribeExecution'),
      stateMachineArn,
    ),
    ...allow(
      'states',
      actions.filter((action) => action === 'DescribeExecution'),
      `${stateMachineArn.replace(':stateMachine:', ':execution:')}:*`,
    ),
    ...(dataKeyArn !== undefined && (uses.table ?? uses.content ?? uses.stream) ? allow('kms', ofDataKey, dataKeyArn) : []),
    ...allow('kms', uses.signingKey, signingKeyArn),
    ...allow('kms', uses.sealingKey, sealingKeyArn),
    ...allow('kms', uses.publishedKeys, ...publishedKeyArns),
    ...allow('lambda', uses.purge, purgeFunctionArn),
    ...allow('dynamodb', uses.stream, streamArn),
  ];
}

function allow(service: string, actions: readonly string[] | undefined, ...resources: string[]): PolicyStatement[] {
  if (!actions || actions.length === 0) return [];
  return [new PolicyStatement({ actions: actions.map((action) => `${service}:${action}`), resources })];
}
