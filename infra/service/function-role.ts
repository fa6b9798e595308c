import { Token } from 'aws-cdk-lib';
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import type { Uses } from '../../shared/uses.ts';
import { acknowledge } from '../acknowledge.ts';
import { nameIn, type Stage } from '../stage.ts';
import { permissionsFor, type Resources } from './permissions.ts';

export interface FunctionRoleProps {
  stage: Stage;
  resources: Resources;
  uses: Uses;
  log: LogGroup;
  deadLetterQueue: IQueue | undefined;
  isTraced: boolean;
}

/** The role of one function. It allows only the actions that the function uses, its own log, traces and its dead-letter queue. */
export class FunctionRole extends Role {
  constructor(scope: Construct, id: string, { stage, resources, uses, log, deadLetterQueue, isTraced }: FunctionRoleProps) {
    super(scope, id, {
      assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
      inlinePolicies: {
        uses: new PolicyDocument({
          statements: [
            ...permissionsFor(uses, resources),
            allow(['logs:CreateLogStream', 'logs:PutLogEvents'], log.logGroupArn),
            ...(isTraced ? [allow(['xray:PutTraceSegments', 'xray:PutTelemetryRecords'], '*')] : []),
            ...(deadLetterQueue ? [allow(['sqs:SendMessage'], deadLetterQueue.queueArn)] : []),
          ],
        }),
      },
    });
    if (isTraced) {
      const traces = 'X-Ray traces support no resource-level permissions.';
      acknowledge(this, 'Serverless-LambdaStarPermissions', traces);
      acknowledge(this, wildcard('*'), traces);
    }
    if (uses.content) {
      const { contentArn } = resources;
      const bucket = Token.isUnresolved(contentArn) ? nameIn(stage, 'content-arn') : contentArn;
      acknowledge(this, wildcard(`${bucket}/content/*`), 'Any object under content/, nothing else.');
    }
    if (uses.stateMachine?.includes('DescribeExecution')) {
      const executions = `arn:aws:states:${stage.region}:<AWS::AccountId>:execution:${nameIn(stage, 'run-lifecycle')}:*`;
      acknowledge(this, wildcard(executions), 'Any execution of this state machine, because each run has its own.');
    }
  }
}

function allow(actions: string[], resource: string): PolicyStatement {
  return new PolicyStatement({ actions, resources: [resource] });
}

function wildcard(resource: string): string {
  return `AwsSolutions-IAM5[Resource::${resource}]`;
}
