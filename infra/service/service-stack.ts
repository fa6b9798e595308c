import { Annotations, ArnFormat, CfnOutput } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { StageStack } from '../house/stage-stack.ts';
import { nameIn, type Stage } from '../stages/stage.ts';
import type { StateStack } from '../state/state-stack.ts';
import { Endpoints, Reference } from './endpoints.ts';
import { faultsOfReservations, reservedInAccount } from './reserved-concurrency.ts';
import { RunLifecycle, stateMachineName } from './run-lifecycle.ts';
import type { Resources } from '../house/permissions.ts';
import { ServiceApi } from './service-api.ts';
import type { CodeOf } from './service-function.ts';
import { Tasks, Triggers } from './tasks.ts';
import { Undelivered } from '../house/dead-letter-queue.ts';

export interface ServiceStackProps {
  stage: Stage;
  /** All stages, of which some may be deployed to the same account. */
  rows: readonly Stage[];
  state: StateStack;
  codeOf: CodeOf;
  /** The origins whose pages may call the API. */
  origins: readonly string[];
  /** The folder of the function of the API reference with the files that it serves, as `npm run build` writes it. */
  referenceFolder: string;
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
    const {
      issuer,
      resources: { bucketName, streamArn },
    } = state;
    this.stateMachineArn = this.formatArn({
      service: 'states',
      resource: 'stateMachine',
      resourceName: stateMachineName(stage),
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    });
    const { stateMachineArn } = this;
    const resources = { ...state.resources, stateMachineArn, ...this.purgeOf(stage) };
    this.resources = resources;

    const api = new ServiceApi(this, 'Api', { stage, issuer, origins });
    this.apiId = api.http.apiId;
    this.apiUrl = api.url;
    new Endpoints(this, 'Endpoints', { stage, api, issuer, resources, codeOf });
    new Reference(this, 'Reference', { stage, api, folder: referenceFolder });

    const undelivered = new Undelivered(this, 'Undelivered', stage);
    const tasks = new Tasks(this, 'Tasks', { stage, issuer, resources, codeOf, undelivered });
    new RunLifecycle(this, 'RunLifecycle', { stage, stepFunction: (step) => tasks.named(`lifecycle/${step}`) });
    new CfnOutput(this, 'StateMachineArn', { value: stateMachineArn });
    new CfnOutput(this, 'UndeliveredUrl', { value: undelivered.queueUrl });
    new Triggers(this, 'Triggers', { tasks, streamArn, contentBucketName: bucketName, stateMachineArn, undelivered });
  }

  private purgeOf(stage: Stage): Pick<Resources, 'purgeFunctionArn' | 'purgeUrl'> {
    const resourceName = nameIn(stage, 'maintenance/purge');
    const { COLON_RESOURCE_NAME: arnFormat } = ArnFormat;
    return {
      purgeFunctionArn: this.formatArn({ service: 'lambda', resource: 'function', resourceName, arnFormat }),
      purgeUrl: `https://lambda.${this.region}.${this.urlSuffix}/2015-03-31/functions/${resourceName}/invocations`,
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
