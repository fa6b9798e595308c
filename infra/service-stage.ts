import { Stage as CdkStage, type App } from 'aws-cdk-lib';
import { CanaryStack } from './canary/canary-stack.ts';
import { ConsoleFilesStack } from './console/console-files-stack.ts';
import { ConsoleStack } from './console/console-stack.ts';
import { GatewayStack } from './gateway/gateway-stack.ts';
import { OperationsStack } from './operations/operations-stack.ts';
import { ServiceStack } from './service/service-stack.ts';
import type { CodeOf } from './service/service-function.ts';
import { originsOf, type Stage } from './stages/stage.ts';
import { StateStack } from './state/state-stack.ts';

/** What `npm run build` has written. */
export interface BuiltFiles {
  codeOf: CodeOf;
  /** The folder with the gateway and the function that issues its certificate. Read only for a stage with a gateway. */
  gatewayFolder: string;
  /** Read only for a stage with a console. */
  consoleFolder: string;
  /** The folder of the function of the canary. Read only for a stage with a canary. */
  canaryFolder: string;
  /** The folder of the function of the API reference, with the files that it serves. */
  referenceFolder: string;
}

/**
 * A deployment of the service: the stacks with its state, its stateless part, its monitoring, and those of its gateway for CVMs, its
 * canary and its web console if its row has them.
 */
export class ServiceStage extends CdkStage {
  readonly stacks: {
    state: StateStack;
    service: ServiceStack;
    gateway?: GatewayStack;
    canary?: CanaryStack;
    operations: OperationsStack;
  };
  /** Undefined if the stage has no console. */
  readonly consoleStacks: { site: ConsoleStack; files: ConsoleFilesStack } | undefined;

  /** @param rows all stages, of which some may be deployed to the same account; by default, this one alone */
  constructor(
    app: App,
    stage: Stage,
    { codeOf, gatewayFolder, consoleFolder, canaryFolder, referenceFolder }: BuiltFiles,
    rows: readonly Stage[] = [stage],
  ) {
    super(app, stage.name, { env: { region: stage.region } });
    const site = stage.console && new ConsoleStack(this, 'Console', { stage, console: stage.console });
    const state = new StateStack(this, 'State', { stage, consoleUrl: site?.url });
    const origins = originsOf(stage, site?.url);
    const service = new ServiceStack(this, 'Service', { stage, rows, state, codeOf, origins, referenceFolder });
    const operations = new OperationsStack(this, 'Operations', { stage, state, service });
    this.stacks = { state, service, operations };
    const { gateway } = stage;
    if (gateway) this.stacks.gateway = new GatewayStack(this, 'Gateway', { stage, row: gateway, state, service, gatewayFolder });
    const { canary } = stage;
    if (canary)
      this.stacks.canary = new CanaryStack(this, 'Canary', { stage, row: canary, state, service, folder: canaryFolder });
    const { issuer, consoleClient: client, contentUrl } = state;
    if (!site || !client) return;
    const { apiUrl } = service;
    const files = new ConsoleFilesStack(this, 'ConsoleFiles', {
      stage,
      site,
      folder: consoleFolder,
      issuer,
      client,
      apiUrl,
      contentUrl,
    });
    this.consoleStacks = { site, files };
  }
}
