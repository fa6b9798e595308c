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
  /** A Python with the emulator in it. */
  python: string;
  /** Takes logs, templates and results. */
  folder: string;
}

/** From synthesis to removal, a line for each step. @throws Error where a step fails, or the suite as docs/rehearsal.md does not know it */
export async function rehearseStage(stage: Stage, { python, folder }: Place): Promise<void> {
  const assembly = join(folder, 'cdk.out');
  const cdk = (words: string[], environment: NodeJS.ProcessEnv) =>
    runCommand({ words: ['cdk', ...words], environment, logFile: join(folder, `cdk-${words[0]}.log`) });

  await step('Bundling the functions, synthesizing the stacks', () =>
    cdk(['synth', `${stage.name}/*`, '--quiet', '--output', assembly], process.env),
  );
  for (const change of adaptAssembly(join(assembly, `assembly-${stage.name}`))) console.log(`  changed in the copy: ${change}`);

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
    const tokens = await step('Adding users, signing them in', () =>
      tokensByPerson(emulator.address, poolOf(stage, readOutputs(outputs))),
    );
    const verdict = await step('Running the end-to-end suite', () =>
      runSuite({ emulator, url: urlOf(emulator, stage, readOutputs(outputs)), tokens, folder }),
    );
    writeFileSync(join(folder, 'function-errors.log'), (await errorsOfFunctions(emulator.address)).join('\n'));
    await step('cdk destroy', () => cdk(['destroy', ...stacks, '--force'], awsEnvironment));
    console.log(describeVerdict(verdict));
    if (verdict.failed.length > 0) throw new Error('The suite found what docs/rehearsal.md does not know.');
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

/** The value of the one output of the stack whose name begins so. @throws Error where there is none */
function output(outputs: Outputs, stack: string, prefix: string): string {
  const [, value] = Object.entries(outputs[stack] ?? {}).find(([name]) => name.startsWith(prefix)) ?? [];
  if (value === undefined) throw new Error(`The stack ${stack} has no output ${prefix}….`);
  return value;
}

function poolOf(stage: Stage, outputs: Outputs) {
  const stack = nameIn(stage, 'state');
  return { id: output(outputs, stack, 'UsersPoolId'), clientId: output(outputs, stack, 'UsersClientId') };
}

/** The name of the API leads to AWS; the emulator serves it under a path. */
function urlOf({ address }: Emulator, stage: Stage, outputs: Outputs): string {
  const { hostname } = new URL(output(outputs, nameIn(stage, 'service'), 'ApiUrl'));
  return `${address.endpoint}/_aws/execute-api/${hostname.split('.')[0] ?? ''}/$default`;
}
