import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Stack, startStack } from '../../infra/local/stack.ts';
import { failedScenes, playStory, type Scene, story, transcriptOf, withoutChance } from '../cms/story.ts';

const repository = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'client-package-'));
const installed = join(folder, 'node_modules/computation-management-client');
let stack: Stack;

/** A program of someone who installed the package. */
const program = `
import { createClient, items, type Schemas, ServiceProblem, waitForRun } from 'computation-management-client';
import { uploadAsset } from 'computation-management-client/node';

const [baseUrl = '', token = '', key = '', file = ''] = process.argv.slice(2);
const client = createClient({ baseUrl, domain: 'd1', token });
const { id } = await client.createComputation({ body: { name: 'From the package' } });
const problem = await client.startRun({ id, cvm: 'sim-1' }).catch((error: unknown) => error);
if (!(problem instanceof ServiceProblem) || problem.missing_items?.info[0] !== 'Missing algorithm') throw problem;
const algorithm = await uploadAsset(client, { file, asset_type: 'algorithm' });
await client.linkAsset({ id: algorithm.id, computationID: id });
await client.uploadKey({ id, body: { key } });
const run: Schemas['Run'] = await waitForRun(client, { id, run: await client.startRun({ id, cvm: 'sim-1' }) });
const names: string[] = [];
for await (const { name } of items(client, 'listComputations', { status: 'completed' })) names.push(name);
console.log(JSON.stringify({ status: run.status, names }));
`;

/** What the examples of the guide take from their surroundings. */
const surroundings = `
declare global {
  const client: import('computation-management-client').Client;
  const token: string, id: string, run: string, assetId: string, cameBackAt: string;
  let lastSeen: string;
}
export {};
`;

/** Writes the examples of a page as files. */
function writeExamples(page: string): string[] {
  const texts = [...readFileSync(join(repository, page), 'utf8').matchAll(/^```ts\n(.+?)^```/gms)];
  return texts.map(([, text = ''], index) => {
    const file = join(folder, `${page.replaceAll('/', '-')}-${index}.ts`);
    writeFileSync(file, text);
    return file;
  });
}

const run = async (command: string, args: string[], cwd: string) =>
  (await promisify(execFile)(command, args, { cwd, env: { ...process.env, npm_config_loglevel: 'error' } })).stdout;

beforeAll(async () => {
  stack = await startStack({ port: 0, simulator: true });
  const packed = await run('npm', ['pack', '--workspace', 'client', '--json', '--pack-destination', folder], repository);
  const { filename } = (JSON.parse(packed.slice(packed.indexOf('['))) as { filename: string }[])[0] ?? { filename: '' };
  // As npm installs it, without a registry: the package's files, and the dependencies that it names.
  mkdirSync(installed, { recursive: true });
  await run('tar', ['-xzf', filename, '--strip-components=1', '-C', installed], folder);
  const { dependencies } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as { dependencies: object };
  for (const name of Object.keys(dependencies)) {
    mkdirSync(dirname(join(folder, 'node_modules', name)), { recursive: true });
    const own = join(repository, 'client/node_modules', name); // where another package needs another version
    symlinkSync(existsSync(own) ? own : join(repository, 'node_modules', name), join(folder, 'node_modules', name));
  }
  writeFileSync(join(folder, 'package.json'), '{"type": "module"}');
  writeFileSync(join(folder, 'story.ts'), program);
});
afterAll(async () => {
  await stack.stop();
  rmSync(folder, { recursive: true });
});

describe('the package of the client', () => {
  it('has no sources and no tests', () => {
    const names = readdirSync(installed, { recursive: true, encoding: 'utf8' });
    expect(names.filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts'))).toEqual([]);
    expect(names).toEqual(expect.arrayContaining(['dist/index.js', 'dist/index.d.ts', 'README.md', 'dist/LICENSE']));
  });

  it('has types with which programs and the examples of the guide compile in the strictest mode', () => {
    writeFileSync(join(folder, 'surroundings.ts'), surroundings);
    const examples = ['docs/client.md', 'client/README.md'].flatMap(writeExamples);
    expect(examples.length).toBeGreaterThan(7);
    const files = [join(folder, 'story.ts'), join(folder, 'surroundings.ts'), ...examples];
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
    const messages = ts
      .getPreEmitDiagnostics(compiled)
      .map(({ file, messageText }) => `${file?.fileName ?? ''}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`);
    expect(messages).toEqual([]);
  });

  it('runs a computation from its creation to its end', async () => {
    const key = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl alice@example.com';
    writeFileSync(join(folder, 'algorithm.py'), 'print(1)');
    const token = await stack.token('alice', ['d1:administrator']);
    const output = await run(process.execPath, ['story.ts', stack.baseUrl, token, key, 'algorithm.py'], folder);
    expect(JSON.parse(output)).toEqual({ status: 'completed', names: ['From the package'] });
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

describe('two parties in two terminals with the packaged cms', () => {
  let scenes: Scene[];
  beforeAll(async () => {
    scenes = await playStory(stack.baseUrl, join(folder, 'homes'), join(installed, 'bin/cms.js'));
  });

  it('get from nothing to a watched, completed and checked run in under 15 commands', () => {
    expect(story.length).toBeLessThan(15);
    expect(failedScenes(scenes)).toEqual([]);
    const outputOf = (line: string) => scenes.find((scene) => scene.line.startsWith(line))?.output;
    expect(outputOf('cms check')).toContain('Approval of alice as result consumer');
    expect(outputOf('cms run')).toMatch(/agent +Running +Completed[^]*✓ .*completed[^]*The run has completed after/);
    expect(outputOf('cms verify')).toMatch(
      /bob approved this manifest, signed[^]*Everything that was checked holds \(\d notes?\)\.\n$/,
    );
  });

  it('see what docs/command-line.md shows (npm run docs:commands writes it)', () => {
    const guide = readFileSync(join(repository, 'docs/command-line.md'), 'utf8');
    const shown = /<!-- transcript:begin -->\n+```text\n([^]*?)```\n+<!-- transcript:end -->/.exec(guide)?.[1] ?? '';
    expect(withoutChance(shown)).toBe(withoutChance(transcriptOf(scenes, stack.baseUrl)));
  });
});
