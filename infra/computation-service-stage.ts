import { join } from 'node:path';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { PermissionsBoundary, Stack, Stage as CdkStage, Tags, Token } from 'aws-cdk-lib';
import { RegionInfo } from 'aws-cdk-lib/region-info';
import { isWitnessVkey } from 'computation-management-transparency-log';
import type { Construct } from 'constructs';
import settings from '../cdk.json' with { type: 'json' };
import { CanaryStack } from './canary/canary-stack.ts';
import { ConsoleFilesStack, ConsoleStack } from './console/console-stacks.ts';
import { GatewayStack } from './gateway/gateway-stack.ts';
import { BudgetStack, OperationsStack } from './operations/operations-stack.ts';
import { ServiceStack } from './service/service-stack.ts';
import { originsOf, stageWith, type Stage, webhooksOf } from './stages/stage.ts';
import { StateStack } from './state/state-stack.ts';

/** The code of functions and the folders that the stacks of a stage deploy, as `npm run build` writes them. */
export interface BuiltFiles {
  codeOf: (name: string) => Code;
  /**
   * The folder with the gateway for CVMs and the function that issues the gateway's certificate. Read only for a stage with a
   * gateway.
   */
  gatewayFolder: string;
  /** The folder of the web console. Read only for a stage with a console. */
  consoleFolder: string;
  /** The folder of the canary's function. Read only for a stage with a canary. */
  canaryFolder: string;
  /** The folder of the function of the API reference, with the files that the function serves. */
  referenceFolder: string;
}

const dist = join(import.meta.dirname, '../dist');

/** The built files in the folder `dist` next to `infra`, in the repository and in the published package. */
const builtFiles: BuiltFiles = {
  codeOf: (name) => Code.fromAsset(join(dist, 'functions', name)),
  gatewayFolder: join(dist, 'gateway'),
  consoleFolder: join(dist, 'console'),
  canaryFolder: join(dist, 'canary'),
  referenceFolder: join(dist, 'reference'),
};

export interface ComputationServiceStageProps extends Partial<Stage> {
  /** The name of the stage, which is part of the names of its stacks. */
  name: string;
  /** The number of the AWS account to deploy to. Default: the account of the scope, or of the credentials that deploy. */
  accountId?: string;
  /** All stages, of which some may be deployed to the same account. Default: only the stage itself. */
  rows?: readonly Stage[];
  /**
   * The built files that the stacks deploy. Default: the files that `npm run build` wrote, as the published package contains
   * them.
   */
  built?: BuiltFiles;
}

/** A deployment of the service. Any construct can be its scope: an app, or the stage of a pipeline. */
export class ComputationServiceStage extends CdkStage {
  readonly stage: Stage;
  /** The stacks of the stage by their purpose. @internal */
  readonly stacks: {
    state: StateStack;
    service: ServiceStack;
    gateway?: GatewayStack;
    canary?: CanaryStack;
    operations: OperationsStack;
    budget?: BudgetStack;
  };
  /** The stacks of the web console. Undefined if the stage has no console. @internal */
  readonly consoleStacks: { site: ConsoleStack; files: ConsoleFilesStack } | undefined;

  /**
   * Creates all stacks of a stage. @throws TypeError if no region is known, the region lacks a service of AWS that the stage needs, or a
   * witness has no address of http or https, or no key of a witness
   */
  constructor(scope: Construct, id: string, { accountId, rows, built = builtFiles, ...given }: ComputationServiceStageProps) {
    const stage = stageWith({ ...given, region: given.region ?? regionOf(scope, given.name) });
    const { region, permissionsBoundaryArn, tags = {} } = stage;
    for (const fault of faultsOfRegion(stage)) throw new TypeError(fault);
    for (const { url, vkey } of stage.witnesses ?? [])
      if (!/^https?:\/\//i.test(url) || !isWitnessVkey(vkey))
        throw new TypeError(`The stage ${stage.name} has no witness ${url}.`);
    super(scope, id, {
      env: { region, ...(accountId === undefined ? {} : { account: accountId }) },
      ...(permissionsBoundaryArn !== undefined && { permissionsBoundary: PermissionsBoundary.fromArn(permissionsBoundaryArn) }),
    });
    this.stage = stage;
    for (const [flag, value] of Object.entries(settings.context)) this.node.setContext(flag, value);
    for (const [key, value] of Object.entries(tags)) Tags.of(this).add(key, value);

    const site = stage.console && new ConsoleStack(this, 'Console', stage, stage.console);
    const state = new StateStack(this, 'State', stage, site?.url);
    const origins = originsOf(stage, site?.url);
    const { codeOf, referenceFolder, gatewayFolder, canaryFolder: folder, consoleFolder } = built;
    const service = new ServiceStack(this, 'Service', { stage, rows: rows ?? [stage], state, codeOf, origins, referenceFolder });
    const operations = new OperationsStack(this, 'Operations', { stage, state, service });
    this.stacks = { state, service, operations };
    const { gateway, canary, monthlyBudgetInDollars: dollars } = stage;
    if (gateway) this.stacks.gateway = new GatewayStack(this, 'Gateway', { stage, row: gateway, state, service, gatewayFolder });
    if (canary) this.stacks.canary = new CanaryStack(this, 'Canary', { stage, row: canary, state, service, folder });
    const { issuer, consoleClient: client, contentUrl } = state;
    if (site && client) {
      const { apiUrl } = service;
      const addresses = { issuer, client, apiUrl, contentUrl };
      const files = new ConsoleFilesStack(this, 'ConsoleFiles', { stage, site, folder: consoleFolder, ...addresses });
      this.consoleStacks = { site, files };
    }
    if (dollars === undefined) return;
    const { gateway: gateways, canary: canaries } = this.stacks;
    this.stacks.budget = new BudgetStack(this, 'Budget', { stage, dollars });
    for (const earlier of [operations, gateways, canaries, this.consoleStacks?.files])
      if (earlier)
        this.stacks.budget.addStackDependency(earlier, 'a budget that is denied must keep nothing else from being deployed');
  }
}

function regionOf(scope: Construct, name: string): string {
  const region = scope.node.scopes.find(Stack.isStack)?.region ?? CdkStage.of(scope)?.region;
  if (region !== undefined && !Token.isUnresolved(region)) return region;
  throw new TypeError(`The stage ${name} names no region: add region, or env with a region to the stage around it.`);
}

/** Returns a sentence for each service that the stage needs and that the partition of its region lacks (China, GovCloud). */
function faultsOfRegion(stage: Stage): string[] {
  const { name, region, console, gateway, issuer, existing, eventBus, monthlyBudgetInDollars } = stage;
  const { partition = 'aws' } = RegionInfo.get(region);
  const [isGovernment, isChina] = [partition === 'aws-us-gov', partition === 'aws-cn'];
  const toServeElsewhere = 'leave console out, and serve its files yourself.';
  const toNameImage = 'name an image of ECR in gateway, or leave gateway out.';
  const toNameTarget = 'name a topic or an address in alarmTargets.';
  const lacking: [isThere: boolean | undefined, lacks: string, doInstead: string][] = [
    [console !== undefined, 'CloudFront as the console uses it', toServeElsewhere],
    [monthlyBudgetInDollars !== undefined, 'AWS Budgets', 'leave monthlyBudgetInDollars out.'],
    [isGovernment && webhooksOf(stage).length > 0, 'API destinations of EventBridge', toNameTarget],
    [isGovernment && eventBus, 'EventBridge Pipes', 'leave eventBus out.'],
    [isChina && gateway !== undefined && gateway.image === undefined, 'public registry of images', toNameImage],
    [isChina && !issuer && !existing?.userPool, 'user pools of Cognito', 'name an issuer of your own.'],
  ];
  return lacking.flatMap(([isThere, lacks, doInstead]) =>
    isThere && partition !== 'aws' ? [`${region} has no ${lacks}, which the stage ${name} needs: ${doInstead}`] : [],
  );
}
