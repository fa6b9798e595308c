import { Stage as CdkStage, type App } from 'aws-cdk-lib';
import { OperationsStack } from './operations/operations-stack.ts';
import { ServiceStack } from './service/service-stack.ts';
import type { CodeOf } from './service/service-function.ts';
import type { Stage } from './stages.ts';
import { StateStack } from './state/state-stack.ts';

/** A deployment of the service: the stacks with its state, its stateless part, and its monitoring. */
export class ServiceStage extends CdkStage {
  readonly stacks: { state: StateStack; service: ServiceStack; operations: OperationsStack };

  constructor(app: App, stage: Stage, codeOf: CodeOf) {
    super(app, stage.name, { env: { region: stage.region } });
    const state = new StateStack(this, 'State', { stage });
    const service = new ServiceStack(this, 'Service', { stage, state, codeOf });
    const operations = new OperationsStack(this, 'Operations', { stage, state, service });
    this.stacks = { state, service, operations };
  }
}
