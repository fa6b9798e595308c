import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Uses } from '../../shared/uses.ts';

/** What functions are given access to. The state machine goes by its name: it calls functions that call it. */
export interface Resources {
  tableName: string;
  tableArn: string;
  contentUrl: string;
  contentArn: string;
  stateMachineArn: string;
}

/** The statements that allow exactly what the function says it uses. */
export function permissionsFor(uses: Uses, { tableArn, contentArn, stateMachineArn }: Resources): PolicyStatement[] {
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
  ];
}

function allow(service: string, actions: readonly string[] | undefined, resource: string): PolicyStatement[] {
  if (!actions || actions.length === 0) return [];
  return [new PolicyStatement({ actions: actions.map((action) => `${service}:${action}`), resources: [resource] })];
}
