import { execFile } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { cpSync, globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import ts from 'typescript';
import { startStack } from '../../local/stack.ts';
import { demandPrerequisites } from '../prerequisites.ts';
import { openapiDocument } from '../../shared/openapi/openapi-document.ts';

/**
 * Generates clients by hey-api, and by openapi-generator for typescript-fetch, Python and Go, compiles them, and completes a run with
 * each. Needs Java, Go and Python on this machine (test/prerequisites.json), and their package registries. The generators come from npm and PyPI.
 * `npm run check:clients go` tries one.
 */
const generatorVersion = '7.26.0';
const heyApiVersion = '0.99.0';
const folder = mkdtempSync(join(tmpdir(), 'clients-'));
const python = join(folder, 'venv/bin/python');
const tsc = join(import.meta.dirname, '../../node_modules/.bin/tsc');
const own = (name: string) => join(import.meta.dirname, name);

const strictOptions = [
  '--strict',
  '--target',
  'es2022',
  '--module',
  'es2022',
  '--moduleResolution',
  'bundler',
  '--lib',
  'es2022,dom,dom.iterable',
];

let variables: Record<string, string> = {};
async function run(program: string, args: string[], cwd = folder): Promise<string> {
  const options = { cwd, env: { ...process.env, ...variables }, maxBuffer: 64 * 1024 * 1024 };
  return (await promisify(execFile)(program, args, options)).stdout;
}

/** @returns the folder of the client */
async function generate(generator: string, properties: string): Promise<string> {
  const [jar = ''] = globSync(join(folder, 'venv/lib/*/site-packages/openapi_generator_cli/openapi-generator.jar'));
  const client = join(folder, generator);
  await run('java', [
    '-jar',
    jar,
    'generate',
    '-i',
    'openapi.json',
    '-g',
    generator,
    '-o',
    client,
    `--additional-properties=${properties}`,
  ]);
  return client;
}

const clients: Record<string, () => Promise<string>> = {
  'hey-api': async () => {
    const client = join(folder, 'hey-api');
    mkdirSync(client);
    writeFileSync(join(client, 'package.json'), '{"type": "module"}');
    writeFileSync(join(client, 'tsconfig.json'), '{}'); // else it looks for one in the folders above
    await run(
      'npm',
      ['install', '--no-audit', '--no-fund', `@hey-api/openapi-ts@${heyApiVersion}`, `typescript@${ts.version}`],
      client,
    );
    await run(process.execPath, ['node_modules/@hey-api/openapi-ts/bin/run.js', '-i', '../openapi.json', '-o', 'api'], client);
    await run(tsc, [...strictOptions, '--noEmit', '--ignoreConfig', 'api/index.ts'], client);
    cpSync(own('complete-a-run-hey-api.mjs'), join(client, 'complete-a-run.mjs'));
    await build({
      entryPoints: [join(client, 'complete-a-run.mjs')],
      outfile: join(client, 'built.mjs'),
      bundle: true,
      platform: 'node',
      format: 'esm',
    });
    return await run(process.execPath, ['built.mjs'], client);
  },
  'typescript-fetch': async () => {
    const client = await generate('typescript-fetch', 'importFileExtension=.js');
    await run(tsc, [...strictOptions, '--outDir', 'built', 'index.ts'], client);
    writeFileSync(join(client, 'package.json'), '{"type": "module"}');
    cpSync(own('complete-a-run.mjs'), join(client, 'complete-a-run.mjs'));
    return await run(process.execPath, ['complete-a-run.mjs'], client);
  },
  python: async () => {
    const client = await generate('python', 'packageName=cms');
    await run(python, ['-m', 'pip', 'install', '--quiet', client]);
    return await run(python, [own('complete-a-run.py')]);
  },
  go: async () => {
    const client = await generate('go', 'packageName=cms,withGoMod=true');
    mkdirSync(join(client, 'program'));
    cpSync(own('complete-a-run.go'), join(client, 'program/main.go'));
    rmSync(join(client, 'test'), { recursive: true, force: true }); // its tests need a package more
    await run('go', ['mod', 'tidy'], client);
    return await run('go', ['run', './program'], client);
  },
};

const stack = await startStack({ port: 0, simulator: true });
try {
  writeFileSync(join(folder, 'openapi.json'), JSON.stringify(openapiDocument('0.1.0')));
  const key = generateKeyPairSync('ed25519').publicKey.export({ format: 'der', type: 'spki' }).toString('base64');
  variables = { BASE: stack.baseUrl, TOKEN: await stack.token('alice', ['d1:administrator']), KEY: key };
  const given = process.argv.slice(2);
  const tried = Object.entries(clients).filter(([name]) => given.length === 0 || given.includes(name));
  if (tried.some(([name]) => name !== 'hey-api')) {
    demandPrerequisites('check:clients');
    await run('python3', ['-m', 'venv', 'venv']);
    await run(python, ['-m', 'pip', 'install', '--quiet', `openapi-generator-cli==${generatorVersion}`]);
  }
  for (const [name, complete] of tried) process.stdout.write(`${name}: ${(await complete()).trim()}\n`);
} finally {
  await stack.stop();
  rmSync(folder, { recursive: true });
}
