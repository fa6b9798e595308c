import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { nameIn, type Stage } from '../../infra/stages/stage.ts';
import { adaptAssembly } from './emulated-assembly.ts';
import { tokensByPerson } from './emulator-client.ts';
import { type Emulator, runCommand, startEmulator } from './emulator.ts';

/** A stage of infra/stages/stages.ts, and the changes of its row that a rehearsal makes. */
export interface StageToRehearse {
  name: string;
  region: string;
  changes: RowChanges;
}

export type RowChanges = Pick<Partial<Stage>, 'eventBus' | 'canary' | 'existing'>;

/** Returns the arguments and variables with which cdk synthesizes the stage. */
export function appOf({ name, changes }: StageToRehearse): { args: string[]; environment: NodeJS.ProcessEnv } {
  if (Object.keys(changes).length === 0) return { args: [], environment: process.env };
  return {
    args: ['--app', 'node test/rehearse/changed-app.ts'],
    environment: { ...process.env, REHEARSED_STAGE: name, REHEARSED_CHANGES: JSON.stringify(changes) },
  };
}

export interface Place {
  /** The command of a Python that has the emulator. */
  python: string;
  /** Receives logs, templates and results. */
  folder: string;
}

/** A stage on the emulator. */
export interface EmulatedStage {
  stage: StageToRehearse;
  place: Place;
  emulator: Emulator;
  /** The API's address. */
  url: string;
  /** Tokens by the name of the person in the suite. */
  tokens: Record<string, string>;
  /** Runs a command of cdk. Its output is in `cdk-<first word>.log`. */
  cdk: (words: string[], environment?: NodeJS.ProcessEnv) => Promise<void>;
  /** Returns the output of a stack of the stage by the beginning of its name. @throws Error if there is none */
  output: (stack: 'state' | 'service' | 'operations', prefix: string) => string;
}

/**
 * Deploys a stage to the emulator, does `work` with it, and removes it. Prints a line for each step.
 * @throws Error if a step fails
 */
export async function onEmulatedStage(
  stage: StageToRehearse,
  place: Place,
  work: (emulated: EmulatedStage) => Promise<void>,
): Promise<void> {
  const { python, folder } = place;
  const assembly = join(folder, 'cdk.out');
  const cdk = (words: string[], environment: NodeJS.ProcessEnv = process.env) =>
    runCommand({ words: ['cdk', ...words], environment, logFile: join(folder, `cdk-${words[0]}.log`) });

  const { args, environment } = appOf(stage);
  await step('Bundling the functions and synthesizing the stacks', () =>
    cdk(['synth', `${stage.name}/*`, '--quiet', '--output', assembly, ...args], environment),
  );
  for (const change of adaptAssembly(join(assembly, `assembly-${stage.name}`)))
    console.log(`  changed in the deployed copy: ${change}`);

  const emulator = await step('Starting the emulator', () => startEmulator({ python, region: stage.region, folder }));
  try {
    const { awsEnvironment } = emulator;
    const stacks = [`${stage.name}/*`, '--app', assembly];
    await step('cdk bootstrap', () =>
      cdk(['bootstrap', `aws://000000000000/${stage.region}`, '--app', assembly], awsEnvironment),
    );
    const file = join(folder, 'outputs.json');
    await step('cdk deploy', () =>
      cdk(['deploy', ...stacks, '--require-approval', 'never', '--outputs-file', file], awsEnvironment),
    );
    const outputs = JSON.parse(readFileSync(file, 'utf8')) as Outputs;
    const output: EmulatedStage['output'] = (stack, prefix) => outputNamed(outputs, nameIn(stage, stack), prefix);
    const pool = { id: output('state', 'UsersPoolId'), clientId: output('state', 'UsersClientId') };
    const tokens = await step('Creating users and signing them in', () => tokensByPerson(emulator.address, pool));
    await work({ stage, place, emulator, url: urlOf(emulator, output('service', 'ApiUrl')), tokens, cdk, output });
    await step('cdk destroy', () => cdk(['destroy', ...stacks, '--force'], awsEnvironment));
  } finally {
    await emulator.stop();
  }
}

/** Does a step and prints how long it took. */
export async function step<T>(title: string, work: () => Promise<T>): Promise<T> {
  process.stdout.write(`${title} … `);
  const start = performance.now();
  try {
    const result = await work();
    console.log(`${((performance.now() - start) / 1000).toFixed(1)} s`);
    return result;
  } catch (error) {
    console.log('failed');
    throw error;
  }
}

type Outputs = Record<string, Record<string, string>>;

function outputNamed(outputs: Outputs, stack: string, prefix: string): string {
  const [, value] = Object.entries(outputs[stack] ?? {}).find(([name]) => name.startsWith(prefix)) ?? [];
  if (value === undefined) throw new Error(`The stack ${stack} has no output ${prefix}….`);
  return value;
}

/** Returns the API's address on the emulator, which serves it under a path. Its own host name leads to AWS. */
function urlOf({ address }: Emulator, apiUrl: string): string {
  return `${address.endpoint}/_aws/execute-api/${new URL(apiUrl).hostname.split('.')[0] ?? ''}/$default`;
}
