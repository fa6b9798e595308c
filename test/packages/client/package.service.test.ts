import { execFile } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Stack, startStack } from '../../../local/stack.ts';
import { firstSteps, takeFirstSteps } from '../first-steps.ts';

const repository = join(import.meta.dirname, '../../..');
let folder: string;
let printed: string;
let stack: Stack;
let examples: Example[];

/** A program of someone who installed the package. It uploads a file as the guide's web page does. */
const program = `
import { createClient, items, type Schemas, ServiceProblem } from 'computation-management-client';

const [baseUrl = '', token = '', upload = ''] = process.argv.slice(2);
const client = createClient({ baseUrl, domain: 'd1', token });
const { id } = await client.createComputation({ body: { name: 'From the package' } });
const problem = await client.startRun({ id, cvm: 'sim-1' }).catch((error: unknown) => error);
if (!(problem instanceof ServiceProblem) || problem.missing_items?.info[0] !== 'Missing algorithm') throw problem;

const file = new File(['print(1)'], 'from-a-page.py');
Object.assign(globalThis, { client, file, signal: AbortSignal.timeout(280_000) });
await import(upload);
const states: Record<string, string> = {};
for await (const { file_name, state } of items(client, 'listAssets')) states[file_name] = state;

const whole: Schemas['Computation'] = await client.getComputation({ id });
const { data } = await client.call('getComputation', { id });
const row: Schemas['ComputationRow'] = await client.getComputation({ id, peek: 'true' });
// @ts-expect-error a row has no assets
const absent: unknown = row.assets;
console.log(JSON.stringify({ states, linked: [whole.assets.length, data?.assets.length, absent] }));
`;

/** The declarations of what the examples of the README take from their surroundings. */
const surroundings = `
declare global {
  const client: import('computation-management-client').Client;
  const token: string, id: string, run: string, assetId: string, cameBackAt: string;
  const file: File, signal: AbortSignal;
  let lastSeen: string;
}
export {};
`;

/** An example of a document, as a file that calls the service of this test. */
interface Example {
  file: string;
  text: string;
}

/** Writes the examples of the README as files. */
function writeExamples(): Example[] {
  const readme = readFileSync(join(folder, 'node_modules/computation-management-client/README.md'), 'utf8');
  return [...readme.matchAll(/^```[jt]s\n(.+?)^```/gms)].map(([, text = ''], index) => {
    const file = join(folder, `example-${index}.ts`);
    writeFileSync(file, text.replaceAll('http://localhost:3000', stack.baseUrl));
    return { file, text };
  });
}

interface Manifest {
  dependencies?: Record<string, string>;
  engines?: { node?: string };
}

/** The packages of package-lock.json, by their folder. */
const { packages } = JSON.parse(readFileSync(join(repository, 'package-lock.json'), 'utf8')) as {
  packages: Record<string, Manifest>;
};

/** Returns the lowest version of Node that a package says, as a number that can be compared. NaN if it says it in another form. */
function lowestNode({ engines: { node = '>=0' } = {} }: Manifest): number {
  const [, major = NaN, minor = 0] = /^>=\s*(\d+)(?:\.(\d+)[.\d]*)?$/.exec(node) ?? [];
  return Number(major) * 1_000 + Number(minor);
}

beforeAll(async () => {
  stack = await startStack({ port: 0, simulator: true });
  ({ folder, printed } = await takeFirstSteps('client', { service: stack.baseUrl }));
  writeFileSync(join(folder, 'package.json'), '{"type": "module"}');
  writeFileSync(join(folder, 'program.ts'), program);
  examples = writeExamples();
});
afterAll(async () => {
  await stack.stop();
  rmSync(folder, { recursive: true });
});

describe('the package of the client', () => {
  it('runs a computation to its end as its README says, in an empty folder', () => {
    expect(printed).toMatch(firstSteps.client.printed);
  });

  it('brings no package that wants a newer Node than it says itself', () => {
    const packageOf = (name: string) =>
      packages[`packages/client/node_modules/${name}`] ?? packages[`node_modules/${name}`] ?? {};
    const client = packages['packages/client'] ?? {};
    const names = new Set(Object.keys(client.dependencies ?? {}));
    for (const name of names) for (const next of Object.keys(packageOf(name).dependencies ?? {})) names.add(next);
    expect(names.size).toBeGreaterThan(0);
    const newer = [...names].filter((name) => !(lowestNode(packageOf(name)) <= lowestNode(client)));
    expect(newer).toEqual([]);
  });

  it('has types with which programs and the examples of the guide compile in the strictest mode', async () => {
    writeFileSync(join(folder, 'surroundings.ts'), surroundings);
    expect(examples.length).toBeGreaterThan(9);
    const files = ['program.ts', 'surroundings.ts'].map((name) => join(folder, name));
    files.push(...examples.map(({ file }) => file));
    const strict = ['--strict', '--noEmit', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess', '--ignoreConfig'];
    const machine = [
      '--module',
      'nodenext',
      '--target',
      'es2022',
      '--typeRoots',
      join(repository, 'node_modules/@types'),
      '--types',
      'node',
    ];
    const compiler = join(repository, 'node_modules/typescript-7/bin/tsc');
    const compile = promisify(execFile)(process.execPath, [compiler, ...strict, ...machine, ...files], { cwd: folder });
    await expect(compile).resolves.toMatchObject({ stdout: '' });
  });

  it('uploads a file as the web page of the guide does, and reads whole computations and rows', async () => {
    const upload = examples.find(({ text }) => text.includes('sendToStorage('))?.file ?? '';
    const token = await stack.token('carol', ['d1:administrator']);
    const { stdout } = await promisify(execFile)(process.execPath, ['program.ts', stack.baseUrl, token, upload], { cwd: folder });
    const lines = stdout.trim().split('\n');
    expect(JSON.parse(lines.at(-1) ?? '')).toEqual({
      states: expect.objectContaining({ 'from-a-page.py': 'ready' }),
      linked: [0, 0, null],
    });
  });

  it('fits into a web page: without modules of Node, in less than 25 KB compressed', async () => {
    const { outputFiles } = await build({
      stdin: { contents: `export * from 'computation-management-client';`, resolveDir: folder },
      bundle: true,
      write: false,
      minify: true,
      platform: 'browser',
      format: 'esm',
      logLevel: 'silent',
    });
    expect(gzipSync(outputFiles[0]?.contents ?? '').length).toBeLessThan(25_000);
  });
});
