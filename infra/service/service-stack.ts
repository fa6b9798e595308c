import { Stack, Annotations, ArnFormat, CfnOutput } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { DefinitionBody, LogLevel, StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import type { Construct } from 'constructs';
import { lifecycleSteps, stateMachineDefinition } from '../../shared/lifecycle/index.ts';
import { acknowledge, addLog, StageStack, type Resources, Undelivered } from '../house.ts';
import { nameIn, type Stage } from '../stages/stage.ts';
import type { StateStack } from '../state/state-stack.ts';
import { Endpoints, Reference, ServiceApi } from './service-api.ts';
import { faultsOfReservations, reservedInAccount } from './reserved-concurrency.ts';
import type { CommonProps } from './service-function.ts';
import { Tasks, Triggers } from './tasks.ts';

/** The state machine that starts, watches and stops runs. It may only call the functions of its steps. */
class RunLifecycle extends StateMachine {
  constructor(scope: Construct, id: string, stage: Stage, tasks: Tasks) {
    const stepFunction = (step: (typeof lifecycleSteps)[number]) => tasks.named(`lifecycle/${step}`);
    const definition = stateMachineDefinition((step) => stepFunction(step).functionName, stage.runTimes);
    super(scope, id, {
      stateMachineName: stateMachineName(stage),
      definitionBody: DefinitionBody.fromString(
        JSON.stringify(definition).replaceAll('"arn:aws:', `"arn:${Stack.of(scope).partition}:`),
      ),
      tracingEnabled: true,
      logs: {
        destination: addLog(scope, `${id}Log`, stage, `/aws/vendedlogs/states/${stateMachineName(stage)}`),
        level: LogLevel.ALL,
        includeExecutionData: false, // it contains task tokens
      },
    });
    const steps = lifecycleSteps.map((step) => stepFunction(step).functionArn);
    this.addToRolePolicy(new PolicyStatement({ actions: ['lambda:InvokeFunction'], resources: steps }));
    acknowledge(this, {
      'AwsSolutions-IAM5[Resource::*]': 'Log delivery and X-Ray traces support no resource-level permissions.',
    });
  }
}

/**
 * Returns the name of the state machine of runs. The name is fixed, because the state machine and its functions refer to each
 * other.
 */
function stateMachineName(stage: Stage): string {
  return nameIn(stage, 'run-lifecycle');
}

interface ServiceStackProps extends Pick<CommonProps, 'stage' | 'codeOf'> {
  /** All stages, of which some may be deployed to the same account. */
  rows: readonly Stage[];
  state: StateStack;
  /** The origins whose pages may call the API. */
  origins: readonly string[];
  /** The folder of the function of the API reference with the files that it serves, as `npm run build` writes it. */
  referenceFolder: string;
}

/** The parts of a stage that its stacks around the API are made from. */
export interface Deployed {
  stage: Stage;
  state: StateStack;
  service: ServiceStack;
}

/** The stack of everything without state, which can be replaced at any time: the API, the functions and the run lifecycle. */
export class ServiceStack extends StageStack {
  readonly apiId: string;
  readonly apiUrl: string;
  readonly stateMachineArn: string;
  readonly resources: Resources;
  /** The concurrent executions that all stages in the account reserve for functions. */
  readonly reservedExecutions: number;

  constructor(scope: Construct, id: string, { stage, rows, state, codeOf, origins, referenceFolder }: ServiceStackProps) {
    super(scope, id, stage, 'Computation management: API, functions, run lifecycle');
    this.checkReservations(stage, rows);
    this.reservedExecutions = reservedInAccount(stage, rows);
    const { issuer } = state;
    this.stateMachineArn = this.formatArn({
      service: 'states',
      resource: 'stateMachine',
      resourceName: stateMachineName(stage),
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    });
    const { stateMachineArn } = this;
    const api = new ServiceApi(this, 'Api', stage, issuer, origins);
    const resources = { ...state.resources, stateMachineArn, ...this.purgeOf(stage), ...this.mailOf(stage, api.url) };
    this.resources = resources;

    this.apiId = api.http.apiId;
    this.apiUrl = api.url;
    const common = { stage, issuer, resources, codeOf };
    new Endpoints(this, 'Endpoints', api, common);
    new Reference(this, 'Reference', stage, api, referenceFolder);

    const undelivered = new Undelivered(this, 'Undelivered', stage);
    const tasks = new Tasks(this, 'Tasks', common, undelivered);
    new RunLifecycle(this, 'RunLifecycle', stage, tasks);
    new CfnOutput(this, 'StateMachineArn', { value: stateMachineArn });
    new CfnOutput(this, 'UndeliveredUrl', { value: undelivered.queueUrl });
    new Triggers(this, 'Triggers', tasks, resources, undelivered);
  }

  private purgeOf(stage: Stage): Pick<Resources, 'purgeFunctionArn' | 'purgeUrl'> {
    const resourceName = nameIn(stage, 'maintenance/purge');
    const { COLON_RESOURCE_NAME: arnFormat } = ArnFormat;
    return {
      purgeFunctionArn: this.formatArn({ service: 'lambda', resource: 'function', resourceName, arnFormat }),
      purgeUrl: `https://lambda.${this.region}.${this.urlSuffix}/2015-03-31/functions/${resourceName}/invocations`,
    };
  }

  private mailOf({ mail }: Stage, api: string): Pick<Resources, 'mailArns' | 'mailSettings'> {
    if (!mail) return { mailArns: [], mailSettings: '' };
    const { identity, from, page } = mail;
    const url = `https://email.${this.region}.${this.urlSuffix}/v2/email/outbound-emails`;
    return {
      mailArns: [this.formatArn({ service: 'ses', resource: 'identity', resourceName: identity })],
      mailSettings: this.toJsonString({ from, page, api, url }),
    };
  }

  private checkReservations(stage: Stage, rows: readonly Stage[]): void {
    for (const fault of faultsOfReservations(stage, rows)) Annotations.of(this).addError(fault);
    if (stage.reservedConcurrency !== 'none') return;
    Annotations.of(this).addWarningV2(
      'computations:nothing-reserved',
      `The stage ${stage.name} reserves no concurrent executions. A busy domain can delay reports and the run lifecycle of all ` +
        'others, and scheduled tasks can overlap.',
    );
  }
}
