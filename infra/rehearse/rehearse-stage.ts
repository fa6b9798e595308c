import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { nameIn, type Stage } from '../stages.ts';
import { adaptAssembly } from './emulated-assembly.ts';
import { tokensByPerson } from './emulated-users.ts';
import { startEmulator, type Emulator } from './emulator.ts';
import { errorsOfFunctions } from './function-errors.ts';
import { runCommand } from './run-command.ts';
import { runSuite } from './suite.ts';
import { describeVerdict } from './verdict.ts';

export interface Place {
  /** The command of a Python that has the emulator. */
  python: string;
  /** Receives logs, templates and results. */
  folder: string;
}

/** Prints a line for each step, from synthesis to removal. @throws Error if a step fails, or a case that is not listed in impossible.ts */
export async function rehearseStage(stage: Stage, { python, folder }: Place): Promise<void> {
  const assembly = join(folder, 'cdk.out');
  const cdk = (words: string[], environment: NodeJS.ProcessEnv) =>
    runCommand({ words: ['cdk', ...words], environment, logFile: join(folder, `cdk-${words[0]}.log`) });

  await step('Bundling the functions and synthesizing the stacks', () =>
    cdk(['synth', `${stage.name}/*`, '--quiet', '--output', assembly], process.env),
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
    const outputs = join(folder, 'outputs.json');
    await step('cdk deploy', () =>
      cdk(['deploy', ...stacks, '--require-approval', 'never', '--outputs-file', outputs], awsEnvironment),
    );
    const tokens = await step('Creating users and signing them in', () =>
      tokensByPerson(emulator.address, poolOf(stage, readOutputs(outputs))),
    );
    const verdict = await step('Running the end-to-end suite', () =>
      runSuite({ emulator, url: urlOf(emulator, stage, readOutputs(outputs)), tokens, folder }),
    );
    writeFileSync(join(folder, 'function-errors.log'), (await errorsOfFunctions(emulator.address)).join('\n'));
    await step('cdk destroy', () => cdk(['destroy', ...stacks, '--force'], awsEnvironment));
    console.log(describeVerdict(verdict));
    if (verdict.failed.length > 0) throw new Error('Cases failed that are not listed in infra/rehearse/impossible.ts.');
  } finally {
    await emulator.stop();
  }
}

async function step<T>(title: string, work: () => Promise<T>): Promise<T> {
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

function readOutputs(file: string): Outputs {
  return JSON.parse(readFileSync(file, 'utf8')) as Outputs;
}

/** Returns the stack's output whose name has this prefix. @throws Error if there is none */
function output(outputs: Outputs, stack: string, prefix: string): string {
  const [, value] = Object.entries(outputs[stack] ?? {}).find(([name]) => name.startsWith(prefix)) ?? [];
  if (value === undefined) throw new Error(`The stack ${stack} has no output ${prefix}….`);
  return value;
}

function poolOf(stage: Stage, outputs: Outputs) {
  const stack = nameIn(stage, 'state');
  return { id: output(outputs, stack, 'UsersPoolId'), clientId: output(outputs, stack, 'UsersClientId') };
}

/** Returns the API's address on the emulator, which serves it under a path. Its own host name leads to AWS. */
function urlOf({ address }: Emulator, stage: Stage, outputs: Outputs): string {
  const { hostname } = new URL(output(outputs, nameIn(stage, 'service'), 'ApiUrl'));
  return `${address.endpoint}/_aws/execute-api/${hostname.split('.')[0] ?? ''}/$default`;
}
