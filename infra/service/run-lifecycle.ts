import { RemovalPolicy, Stack } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { DefinitionBody, LogLevel, StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import type { Construct } from 'constructs';
import { lifecycleSteps, stateMachineDefinition } from '../../shared/lifecycle/index.ts';
import { acknowledge } from '../house/acknowledge.ts';
import { nameIn, type Stage } from '../stages/stage.ts';

export interface RunLifecycleProps {
  stage: Stage;
  stepFunction: (step: (typeof lifecycleSteps)[number]) => LambdaFunction;
}

/** The state machine that starts, watches and stops runs. It may only call the functions of its steps. */
export class RunLifecycle extends StateMachine {
  constructor(scope: Construct, id: string, { stage, stepFunction }: RunLifecycleProps) {
    const definition = stateMachineDefinition((step) => stepFunction(step).functionName, stage.runTimes);
    super(scope, id, {
      stateMachineName: stateMachineName(stage),
      definitionBody: DefinitionBody.fromString(
        JSON.stringify(definition).replaceAll('"arn:aws:', `"arn:${Stack.of(scope).partition}:`),
      ),
      tracingEnabled: true,
      logs: {
        destination: new LogGroup(scope, `${id}Log`, {
          logGroupName: `/aws/vendedlogs/states/${stateMachineName(stage)}`,
          retention: stage.logRetention,
          removalPolicy: RemovalPolicy.DESTROY,
        }),
        level: LogLevel.ALL,
        includeExecutionData: false, // it contains task tokens
      },
    });
    const steps = lifecycleSteps.map((step) => stepFunction(step).functionArn);
    this.addToRolePolicy(new PolicyStatement({ actions: ['lambda:InvokeFunction'], resources: steps }));
    acknowledge(this, 'AwsSolutions-IAM5[Resource::*]', 'Log delivery and X-Ray traces support no resource-level permissions.');
  }
}

/**
 * Returns the name of the state machine of runs. The name is fixed, because the state machine and its functions refer to each
 * other.
 */
export function stateMachineName(stage: Stage): string {
  return nameIn(stage, 'run-lifecycle');
}
