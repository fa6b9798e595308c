import { readFileSync } from 'node:fs';
import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { AwsSolutionsChecks, ServerlessChecks } from 'cdk-nag';
import { ServiceStage } from '../../infra/service-stage.ts';
import { stages, type Stage } from '../../infra/stages.ts';

/** The part of a template's resource that tests read. */
export interface Resource {
  Type: string;
  Properties: Record<string, unknown>;
  DeletionPolicy?: string;
  DependsOn?: string[];
}

export interface SynthesizedStage {
  stage: Stage;
  stacks: Record<'state' | 'service' | 'operations', SynthesizedStack>;
}

export interface SynthesizedStack {
  resources: Record<string, Resource>;
  terminationProtection: boolean | undefined;
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
  alarmTargets: [
    { email: 'platform@example.com' },
    { topicArn: 'arn:aws:sns:eu-central-1:111122223333:on-call' },
    { webhook: { url: 'https://pages.example.com/alarms', header: 'authorization', secretName: 'pages' } },
  ],
  evidenceKeys: ['key-1', 'key-2'],
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
  const app = openApp();
  const stage = new ServiceStage(app, row, standIn);
  return [new AwsSolutionsChecks(), new ServerlessChecks()].flatMap((pack) =>
    pack.validateScope(stage).violations.map(({ ruleName }) => ruleName),
  );
}

/** Returns the errors that keep `cdk synth` from accepting a stage. */
export function errorsOf(stage: Stage): string[] {
  const app = openApp();
  new ServiceStage(app, stage, standIn);
  try {
    app.synth();
    return [];
  } catch (error) {
    return [...String(error).matchAll(/^ERROR (.*) \(Annotation\)$/gm)].map(([, message = '']) => message);
  }
}

/** Synthesizes stages as `cdk synth` does, but without bundling and without the checks of `npm run synth`. */
export function synthesize(wanted: readonly Stage[] = everyStage): SynthesizedStage[] {
  const app = openApp();
  return wanted
    .map((stage) => ({
      stage,
      stacks: new ServiceStage(app, stage, standIn).stacks,
    }))
    .map(({ stage, stacks }) => ({
      stage,
      stacks: {
        state: synthesizedStack(stacks.state),
        service: synthesizedStack(stacks.service),
        operations: synthesizedStack(stacks.operations),
      },
    }));
}

const standIn = () => Code.fromInline('exports.handler = () => {};');

function openApp(): App {
  process.env['CDK_VALIDATION'] = 'false';
  const { context } = JSON.parse(readFileSync(new URL('../../cdk.json', import.meta.url), 'utf8')) as {
    context: Record<string, unknown>;
  };
  return new App({ context: { ...context, 'aws:cdk:bundling-stacks': [] } });
}

function synthesizedStack(stack: ServiceStage['stacks']['state' | 'service' | 'operations']): SynthesizedStack {
  const template = Template.fromStack(stack).toJSON() as {
    Resources?: Record<string, Resource>;
    Outputs?: Record<string, { Export?: { Name: string } }>;
  };
  const resources = template.Resources ?? {};
  return {
    resources,
    terminationProtection: stack.terminationProtection,
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
