import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { App, type Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { AwsSolutionsChecks, ServerlessChecks } from 'cdk-nag';
import type { Construct, IConstruct } from 'constructs';
import { type BuiltFiles, ComputationServiceStage } from '../../infra/computation-service-stage.ts';
import { certificateFunctionFolder, gatewayFiles, startFile } from '../../infra/gateway/gateway-task.ts';
import type { Deployed } from '../../infra/service/service-stack.ts';
import type { Stage } from '../../infra/stages/stage.ts';
import { stages } from '../../infra/stages/stages.ts';
import { doneOnce } from './share-work.ts';

/** The part of a template's resource that tests read. */
export interface Resource {
  Type: string;
  Properties: Record<string, unknown>;
  DeletionPolicy?: string;
  DependsOn?: string[];
}

export interface SynthesizedStage {
  stage: Stage;
  stacks: Record<'state' | 'service' | 'operations', SynthesizedStack> & {
    gateway?: SynthesizedStack;
    canary?: SynthesizedStack;
    budget?: SynthesizedStack;
  };
  /** Undefined if the stage has no console. */
  console?: Record<'site' | 'files', SynthesizedStack>;
}

export interface SynthesizedStack {
  resources: Record<string, Resource>;
  terminationProtection: boolean;
  /** The names of the outputs that other stacks can import. */
  exports: string[];
  /** The logical ids of all outputs. */
  outputs: string[];
  /** Returns the properties of all resources of a type by logical id. */
  ofType: <P>(type: string) => Record<string, P>;
}

export const fullStage: Stage = {
  ...stageNamed('prod'),
  name: 'full',
  issuer: { url: 'https://login.example.com', audience: ['computations'], membershipClaim: 'memberships' },
  domain: { name: 'api.example.com', certificateArn: 'arn:aws:acm:eu-central-1:111122223333:certificate/1' },
  corsOrigins: ['https://app.example.com'],
  console: {
    domain: { name: 'console.example.com', certificateArn: 'arn:aws:acm:us-east-1:111122223333:certificate/2' },
    client: { id: 'console', scopes: 'openid computations', origins: ['https://login.example.com'] },
  },
  alarmTargets: [
    { email: 'platform@example.com', for: 'ticket' },
    { topicArn: 'arn:aws:sns:eu-central-1:111122223333:on-call', for: 'page' },
    { webhook: { url: 'https://pages.example.com/alarms', header: 'authorization', secretName: 'pages' } },
  ],
  evidenceKeys: ['key-1', 'key-2'],
  copiesVaultArn: 'arn:aws:backup:eu-west-1:444455556666:backup-vault:copies',
  gateway: { port: 7001, tasks: 2, networks: ['203.0.113.0/24'], hostName: 'cvms.example.com' },
  eventBus: true,
  mail: { identity: 'example.com', from: 'computations@example.com', page: 'https://console.example.com/console/' },
  canary: { everyMinutes: 15, credentials: { clientId: 'canary', secretName: 'canary-client', scope: 'computations' } },
};

/** The stages of the table, and one that uses every option of a stage. */
const everyStage: readonly Stage[] = [...stages, fullStage];

function stageNamed(name: string): Stage {
  const found = stages.find((stage) => stage.name === name);
  if (!found) throw new Error(`There is no stage ${name}.`);
  return found;
}

/** A stage with its own table, bucket and user pool. */
export const ownStage = stageNamed('dev');

/** Returns the findings of cdk-nag for a stage. `npm run synth` checks only the stages of the table. */
export function findingsOf(row: Stage): string[] {
  return inApp((app, built) => {
    const stage = new ComputationServiceStage(app, row.name, { ...row, built });
    return [new AwsSolutionsChecks(), new ServerlessChecks()].flatMap((pack) =>
      pack.validateScope(stage).violations.map(({ ruleName }) => ruleName),
    );
  });
}

/**
 * Returns the errors that keep `cdk synth` from accepting a stage: those that its constructs are annotated with.
 * @param rows all stages of the table; by default, this one alone
 */
export function errorsOf(row: Stage, rows: readonly Stage[] = [row]): string[] {
  return inApp((app, built) => annotated('error', new ComputationServiceStage(app, row.name, { ...row, rows, built })));
}

/** Returns the errors of a stack of each row, beside the state and the service of one stage: it takes less than a stage of each row. */
export function errorsBeside(rows: Stage[], make: (scope: Construct, id: string, deployed: Deployed) => Stack): string[][] {
  return inApp((app, built) => {
    const around = new ComputationServiceStage(app, fullStage.name, { ...fullStage, built });
    return rows.map((stage, at) => annotated('error', make(around, `Beside${at}`, { ...around.stacks, stage })));
  });
}

/** Returns the annotations of a construct and its children. */
export function annotated(level: 'error' | 'warning', construct: IConstruct): string[] {
  const entries = construct.node.findAll().flatMap(({ node }) => node.metadata);
  return entries.filter(({ type }) => type === `aws:cdk:${level}`).map(({ data }) => String(data));
}

const read = new Map<string, SynthesizedStage>();

/**
 * Synthesizes stages as `cdk synth` does, but without bundling and without the checks of `npm run synth`. The processes of a run of
 * the tests share the templates (share-work.ts), and the files of a process what was read of them, so a test must not change it.
 */
export function synthesize(wanted: readonly Stage[] = everyStage): SynthesizedStage[] {
  return wanted.map((stage) => {
    const key = JSON.stringify(stage);
    const found =
      read.get(key) ??
      withTemplates(
        stage,
        doneOnce(`stage ${key}`, () => templatesOf({}, stage)),
      );
    read.set(key, found);
    return found;
  });
}

/** Synthesizes a stage. @param built files that were built, in place of those that stand in for them */
export function synthesizeWith(built: Partial<BuiltFiles>, stage: Stage): SynthesizedStage {
  return withTemplates(stage, templatesOf(built, stage));
}

/** A stack as JSON. */
interface Templated {
  template: { Resources?: Record<string, Resource>; Outputs?: Record<string, { Export?: { Name: string } }> };
  terminationProtection: boolean;
}

type Templates = Record<'stacks' | 'consoleStacks', Record<string, Templated>>;

function templatesOf(built: Partial<BuiltFiles>, stage: Stage): Templates {
  return inApp((app, standIns) => {
    const { stacks, consoleStacks } = new ComputationServiceStage(app, stage.name, {
      ...stage,
      built: { ...standIns, ...built },
    });
    return { stacks: eachOf({ ...stacks }, templateOf), consoleStacks: eachOf({ ...consoleStacks }, templateOf) };
  });
}

function withTemplates(stage: Stage, { stacks, consoleStacks }: Templates): SynthesizedStage {
  const console = eachOf(consoleStacks, synthesizedStack) as Required<SynthesizedStage>['console'];
  return {
    stage,
    stacks: eachOf(stacks, synthesizedStack) as SynthesizedStage['stacks'],
    ...(Object.keys(console).length > 0 && { console }),
  };
}

/** Converts each value that is there. */
function eachOf<From, To>(values: Record<string, From | undefined>, convert: (value: From) => To): Record<string, To> {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [[name, convert(value)]])),
  );
}

/** Does `work` with a CDK app and with files for it. All that either writes is removed afterwards. */
export function inApp<T>(work: (app: App, standIns: BuiltFiles) => T, more: Record<string, unknown> = {}): T {
  process.env['CDK_VALIDATION'] = 'false';
  const { context } = JSON.parse(readFileSync(new URL('../../cdk.json', import.meta.url), 'utf8')) as {
    context: Record<string, unknown>;
  };
  const folder = mkdtempSync(join(tmpdir(), 'synthesized-'));
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 1; // the CDK notes for each resource who made it, which takes a fifth of the time
  try {
    const quick = {
      stackTraces: false,
      analyticsReporting: false,
      context: { ...context, 'aws:cdk:bundling-stacks': [], ...more },
    };
    const app = new App({ outdir: join(folder, 'cdk.out'), ...quick });
    return work(app, standInsIn(folder));
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
    rmSync(folder, { recursive: true });
  }
}

/** Writes what stands in for what `npm run build` writes. */
function standInsIn(folder: string): BuiltFiles {
  const [gatewayFolder, functionFolder] = [join(folder, 'gateway'), join(folder, 'function')];
  const files = [
    ...[...gatewayFiles, startFile, join(certificateFunctionFolder, 'index.mjs')].map((name) => join(gatewayFolder, name)),
    join(functionFolder, 'index.mjs'),
  ];
  for (const file of files) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, '// stands in');
  }
  return {
    codeOf: () => Code.fromInline('exports.handler = () => {};'),
    gatewayFolder,
    consoleFolder: fileURLToPath(new URL('console-files', import.meta.url)),
    canaryFolder: functionFolder,
    referenceFolder: functionFolder,
  };
}

function templateOf(stack: Stack): Templated {
  return { template: Template.fromStack(stack).toJSON(), terminationProtection: stack.terminationProtection };
}

function synthesizedStack({ template, terminationProtection }: Templated): SynthesizedStack {
  const resources = template.Resources ?? {};
  return {
    resources,
    terminationProtection,
    outputs: Object.keys(template.Outputs ?? {}),
    exports: Object.values(template.Outputs ?? {}).flatMap(({ Export }) => Export?.Name ?? []),
    ofType: <P>(type: string) =>
      Object.fromEntries(
        Object.entries(resources)
          .filter(([, resource]) => resource.Type === type)
          .map(([id, { Properties }]) => [id, Properties as P]),
      ),
  };
}

/** Converts a value of a template to text, with references as `<LogicalId>` and joins resolved. */
export function flat(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(flat).join('');
  const {
    Ref,
    'Fn::GetAtt': attribute,
    'Fn::Join': join,
    'Fn::ImportValue': imported,
  } = value as {
    Ref?: string;
    'Fn::GetAtt'?: string[];
    'Fn::Join'?: [string, unknown[]];
    'Fn::ImportValue'?: unknown;
  };
  if (Ref !== undefined) return `<${Ref}>`;
  if (attribute) return `<${attribute.join('.')}>`;
  if (join) return join[1].map(flat).join(join[0]);
  return flat(imported ?? '');
}

/** The origins whose pages may call the API of a stage of this file. */
export function originsOf({ corsOrigins, console }: Stage): string[] {
  return [...corsOrigins, ...(console?.domain ? [`https://${console.domain.name}`] : [])];
}
