import { execFile, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Stack, startStack } from '../../../local/stack.ts';
import { filesOf, genuineEvidence } from '../verify/genuine-evidence.ts';
import { failedScenes, playStory, type Scene, story, transcriptOf, withoutChance } from '../cms/story.ts';

const repository = join(import.meta.dirname, '../../..');
const folder = mkdtempSync(join(tmpdir(), 'client-package-'));
const installed = join(folder, 'node_modules/computation-management-client');
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

/** What the examples of the guide take from their surroundings. */
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

/** Writes the examples of a page as files. */
function writeExamples(page: string): Example[] {
  const texts = [...readFileSync(join(repository, page), 'utf8').matchAll(/^```ts\n(.+?)^```/gms)];
  return texts.map(([, text = ''], index) => {
    const file = join(folder, `${page.replaceAll('/', '-')}-${index}.ts`);
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

/** Returns a program that runs another one with the machine's own Node, which may be older than that of the scripts. */
function onOwnNode(program: string): string {
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((each) => !each.includes('node_modules'));
  const node = folders.map((each) => join(each, 'node')).find((file) => existsSync(file)) ?? process.execPath;
  return `
    import { spawnSync } from 'node:child_process';
    const args = [${JSON.stringify(program)}, ...process.argv.slice(2)];
    process.exitCode = spawnSync(${JSON.stringify(node)}, args, { stdio: 'inherit' }).status;
  `;
}

const run = async (command: string, args: string[], cwd: string) =>
  (await promisify(execFile)(command, args, { cwd, env: { ...process.env, npm_config_loglevel: 'error' } })).stdout;

/** The folders of the packages that the client needs, its own first: another package may need another version. */
const ofRegistry = ['oauth4webapi', 'openapi-fetch', 'openapi-typescript-helpers'].map((name) => {
  const own = `packages/client/node_modules/${name}`;
  return existsSync(join(repository, own)) ? own : `node_modules/${name}`;
});

beforeAll(async () => {
  stack = await startStack({ port: 0, simulator: true });
  const programs = ['client', 'cms', 'verify'];
  await Promise.all(programs.map((name) => run('npm', ['run', 'build', '--workspace', `packages/${name}`], repository)));
  const published = [...programs.map((name) => `packages/${name}/dist`), ...ofRegistry].map((path) => join(repository, path));
  const packed = await run('npm', ['pack', ...published, '--ignore-scripts', '--json', '--pack-destination', folder], repository);
  const tarballs = (JSON.parse(packed) as { filename: string }[]).map(({ filename }) => `./${filename}`);
  writeFileSync(join(folder, 'package.json'), '{"type": "module"}');
  await run('npm', ['install', ...tarballs, '--offline', '--ignore-scripts', '--no-audit', '--no-fund'], folder);
  writeFileSync(join(folder, 'program.ts'), program);
  examples = ['docs/client.md', 'packages/client/README.md'].flatMap(writeExamples);
});
afterAll(async () => {
  await stack.stop();
  rmSync(folder, { recursive: true });
});

describe('the package of the client', () => {
  it('has no sources and no tests', () => {
    const names = readdirSync(installed, { recursive: true, encoding: 'utf8' });
    expect(names.filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts'))).toEqual([]);
    expect(names).toEqual(expect.arrayContaining(['index.js', 'index.d.ts', 'node/index.js', 'README.md', 'LICENSE']));
  });

  it('has the guide, without links to files that are not in it', () => {
    const guide = readFileSync(join(installed, 'client.md'), 'utf8');
    expect(guide).toContain('## Files, in a web page');
    expect(guide).not.toMatch(/\]\((?!https?:|#)|npm run/);
    expect(readFileSync(join(installed, 'README.md'), 'utf8')).toContain('`client.md`');
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

  it('has types with which programs and the examples of the guide compile in the strictest mode', () => {
    writeFileSync(join(folder, 'surroundings.ts'), surroundings);
    expect(examples.length).toBeGreaterThan(9);
    const files = ['program.ts', 'surroundings.ts'].map((name) => join(folder, name));
    files.push(...examples.map(({ file }) => file));
    const compiled = ts.createProgram(files, {
      strict: true,
      noEmit: true,
      skipDefaultLibCheck: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      module: ts.ModuleKind.NodeNext,
      target: ts.ScriptTarget.ES2022,
      typeRoots: [join(repository, 'node_modules/@types')],
      types: ['node'],
    });
    const ofClient = compiled.getSourceFiles().filter(({ fileName }) => !fileName.includes('/@types/'));
    const messages = [compiled.getOptionsDiagnostics(), ofClient.map((file) => ts.getPreEmitDiagnostics(compiled, file))]
      .flat(2)
      .map(({ file, messageText }) => `${file?.fileName ?? ''}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`);
    expect(messages).toEqual([]);
  });

  it('runs a computation from its creation to its end, as its README shows', async () => {
    const key = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl alice@example.com';
    writeFileSync(join(folder, 'id_ed25519.pub'), key);
    writeFileSync(join(folder, 'algorithm.py'), 'print(1)');
    expect(await run(process.execPath, ['packages-client-README.md-0.ts'], folder)).toMatch(/\ncompleted\n$/);
  });

  it('uploads a file as the web page of the guide does, and reads whole computations and rows', async () => {
    const upload = examples.find(({ text }) => text.includes('sendToStorage('))?.file ?? '';
    const token = await stack.token('carol', ['d1:administrator']);
    const lines = (await run(process.execPath, ['program.ts', stack.baseUrl, token, upload], folder)).trim().split('\n');
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

describe('the packages of programs', () => {
  it('are one file each, with the licenses of the packages that it contains', () => {
    const licensesOf = (name: string) =>
      readFileSync(join(folder, `node_modules/computation-management-${name}/licenses.txt`), 'utf8');
    const namesIn = (licenses: string) => licenses.match(/^\S+(?= \d+\.\d+\.\d+$)/gm);
    expect(namesIn(licensesOf('cms'))).toEqual(expect.arrayContaining(['commander', 'sshpk', 'yaml']));
    expect(licensesOf('cms')).toContain('Copyright (c) 2012 Mark Cavage'); // of assert-plus, which has it in its README only
    expect(namesIn(licensesOf('verify'))).toEqual(expect.arrayContaining(['canonicalize', 'valibot']));
    expect(existsSync(join(folder, 'node_modules/valibot'))).toBe(false);
  });

  it('verify genuine evidence, and find that it was tampered with', () => {
    const genuine = genuineEvidence();
    const { evidence, keys, events } = filesOf(genuine);
    const content = { 'evidence.json': evidence, 'keys.json': keys, 'events.json': events[0] ?? '' };
    for (const [name, text] of Object.entries(content)) writeFileSync(join(folder, name), text);
    const program = join(folder, 'verify-on-own-node.js');
    writeFileSync(program, onOwnNode(join(folder, 'node_modules/.bin/computation-management-verify')));
    const verify = () =>
      spawnSync(process.execPath, [program, 'evidence.json', '--keys', 'keys.json', '--events', 'events.json'], { cwd: folder });
    expect(verify().status).toBe(0);
    writeFileSync(join(folder, 'events.json'), JSON.stringify(genuine.events.toSpliced(3, 1)));
    expect(verify().status).toBe(1);
  });
});

describe('two parties in two terminals with the packaged cms', () => {
  let scenes: Scene[];
  beforeAll(async () => {
    const program = join(folder, 'cms-on-own-node.js');
    writeFileSync(program, onOwnNode(join(folder, 'node_modules/.bin/cms')));
    scenes = await playStory(stack.baseUrl, join(folder, 'homes'), program);
  });

  it('get from nothing to a watched, completed and checked run in under 15 commands', () => {
    expect(story.length).toBeLessThan(15);
    expect(failedScenes(scenes)).toEqual([]);
    const outputOf = (line: string) => scenes.find((scene) => scene.line.startsWith(line))?.output;
    expect(outputOf('cms init')).toContain('Approval of alice as result consumer');
    expect(outputOf('cms run')).toMatch(/agent +Running +Completed[^]*✓ .*completed[^]*The run has completed after/);
    expect(outputOf('cms verify')).toMatch(
      /"bob" approved this manifest and configuration, signed[^]*Everything that was checked holds \(\d notes?\)\.\n$/,
    );
  });

  it('see what docs/command-line.md shows (npm run docs:commands writes it)', () => {
    const guide = readFileSync(join(repository, 'docs/command-line.md'), 'utf8');
    const shown = /<!-- transcript:begin -->\n+```text\n([^]*?)```\n+<!-- transcript:end -->/.exec(guide)?.[1] ?? '';
    expect(withoutChance(shown)).toBe(withoutChance(transcriptOf(scenes, stack.baseUrl)));
  });
});
