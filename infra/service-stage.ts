import { Stage as CdkStage, type App } from 'aws-cdk-lib';
import { GatewayStack } from './gateway/gateway-stack.ts';
import { OperationsStack } from './operations/operations-stack.ts';
import { ServiceStack } from './service/service-stack.ts';
import type { CodeOf } from './service/service-function.ts';
import type { Stage } from './stages.ts';
import { StateStack } from './state/state-stack.ts';

/** The built code of a deployment. */
export interface BuiltCode {
  codeOf: CodeOf;
  /** The folder with the gateway and the function that issues its certificate. Read only for a stage with a gateway. */
  gatewayFolder: string;
}

/** A deployment of the service: the stacks with its state, its stateless part, its gateway for CVMs if it has one, and its monitoring. */
export class ServiceStage extends CdkStage {
  readonly stacks: { state: StateStack; service: ServiceStack; gateway?: GatewayStack; operations: OperationsStack };

  constructor(app: App, stage: Stage, { codeOf, gatewayFolder }: BuiltCode) {
    super(app, stage.name, { env: { region: stage.region } });
    const state = new StateStack(this, 'State', { stage });
    const service = new ServiceStack(this, 'Service', { stage, state, codeOf });
    const operations = new OperationsStack(this, 'Operations', { stage, state, service });
    this.stacks = { state, service, operations };
    const { gateway } = stage;
    if (gateway) this.stacks.gateway = new GatewayStack(this, 'Gateway', { stage, row: gateway, state, service, gatewayFolder });
  }
}
