import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
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
  /** The ARN of the KMS key that encrypts the table and the content of assets. Undefined: AWS's own keys encrypt them. */
  dataKeyArn: string | undefined;
  purgeFunctionArn: string;
  /** The URL of Lambda's API at which the function that purges deleted data is called. */
  purgeUrl: string;
}

/** The actions on the KMS key of the data that callers of the encrypted table and bucket need. */
const ofDataKey = ['Decrypt', 'DescribeKey', 'Encrypt', 'GenerateDataKey', 'ReEncryptFrom', 'ReEncryptTo'];

/** Returns the policy statements that allow exactly the actions that a function declares in `uses`. */
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
    ...allowIn('dynamodb', uses.table, tableArn),
    ...allowIn('s3', uses.content, `${contentArn}/content/*`),
    ...allowIn('s3', uses.bucket, contentArn),
    ...allowIn(
      'states',
      actions.filter((action) => action !== 'DescribeExecution'),
      stateMachineArn,
    ),
    ...allowIn(
      'states',
      actions.filter((action) => action === 'DescribeExecution'),
      `${stateMachineArn.replace(':stateMachine:', ':execution:')}:*`,
    ),
    ...(dataKeyArn !== undefined && (uses.table ?? uses.content ?? uses.stream) ? allowIn('kms', ofDataKey, dataKeyArn) : []),
    ...allowIn('kms', uses.signingKey, signingKeyArn),
    ...allowIn('kms', uses.sealingKey, sealingKeyArn),
    ...allowIn('kms', uses.publishedKeys, ...publishedKeyArns),
    ...allowIn('lambda', uses.purge, purgeFunctionArn),
    ...allowIn('dynamodb', uses.stream, streamArn),
  ];
}

function allowIn(service: string, actions: readonly string[] | undefined, ...resources: string[]): PolicyStatement[] {
  if (!actions || actions.length === 0) return [];
  return [
    allow(
      actions.map((action) => `${service}:${action}`),
      ...resources,
    ),
  ];
}

export function allow(actions: string[], ...resources: string[]): PolicyStatement {
  return new PolicyStatement({ actions, resources });
}

/**
 * Adds a role with exactly the given permissions. @param service the service of AWS that assumes the role, such as
 * `lambda.amazonaws.com`
 */
export function roleOf(scope: Construct, id: string, service: string, statements: PolicyStatement[]): Role {
  return new Role(scope, id, {
    assumedBy: new ServicePrincipal(service),
    inlinePolicies: { uses: new PolicyDocument({ statements }) },
  });
}
