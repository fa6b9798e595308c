import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createContext, runInContext } from 'node:vm';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const repository = fileURLToPath(new URL('../../..', import.meta.url));
const vectors = fileURLToPath(new URL('vectors', import.meta.url));
const packageRoot = join(repository, 'packages/attestation');
const folder = mkdtempSync(join(tmpdir(), 'attestation-'));
const installed = join(folder, 'node_modules/computation-management-attestation');

async function run(command: string, args: string[], cwd: string): Promise<string> {
  const { stdout } = await promisify(execFile)(command, args, { cwd, env: { ...process.env, npm_config_loglevel: 'error' } });
  return stdout;
}

beforeAll(async () => {
  await run('npm', ['run', 'build', '--workspace', 'packages/attestation'], repository);
  const published = [join(packageRoot, 'dist'), join(repository, 'node_modules/cborg')];
  const packed = await run('npm', ['pack', ...published, '--ignore-scripts', '--json', '--pack-destination', folder], repository);
  const tarballs = (JSON.parse(packed) as { filename: string }[]).map(({ filename }) => `./${filename}`);
  writeFileSync(join(folder, 'package.json'), '{"type": "module"}');
  await run('npm', ['install', ...tarballs, '--offline', '--ignore-scripts', '--no-audit', '--no-fund'], folder);
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('the package of the attestation', () => {
  it('has its declarations and its README, and no sources', () => {
    const names = readdirSync(installed, { recursive: true, encoding: 'utf8' });
    expect(names.filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts'))).toEqual([]);
    expect(names).toEqual(expect.arrayContaining(['index.js', 'index.d.ts', 'verify-tdx.js', 'README.md', 'LICENSE']));
  });

  it('runs the example of its README in Node', async () => {
    const [, example = ''] = /^```js\n(.+?)^```/ms.exec(readFileSync(join(installed, 'README.md'), 'utf8')) ?? [];
    const program = example.replaceAll(/'(report\.bin|vcek\.der)'/g, (_, name: string) =>
      JSON.stringify(join(vectors, name === 'vcek.der' ? 'snp-milan.vcek.der' : 'snp-milan.report')),
    );
    writeFileSync(join(folder, 'example.mjs'), program);
    const printed = await run(process.execPath, ['example.mjs'], folder);
    expect(printed).toMatch(/^refused\n/);
    expect(printed).toContain('report_data');
  });

  it('verifies SNP and TDX with what browsers have alone', async () => {
    const entry = `
      import { verifySnpReport, verifyTdxQuote } from 'computation-management-attestation';
      const bytes = (base64) => Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
      globalThis.result = (async () => [
        await verifySnpReport(bytes(report), { now: new Date('2025-06-01'), boundTo: null, certificates: [bytes(vcek)] }),
        await verifyTdxQuote(bytes(quote), { now: new Date('2025-07-01'), boundTo: null, collateral: [JSON.parse(collateral)] }),
      ].map(({ checks }) => checks.filter(({ passed }) => !passed).map(({ name }) => name).join()).join())();
    `;
    writeFileSync(join(folder, 'page.js'), entry);
    const { outputFiles } = await build({
      entryPoints: [join(folder, 'page.js')],
      bundle: true,
      write: false,
      platform: 'browser',
      format: 'iife',
      logLevel: 'silent',
    });
    const base64 = (file: string) => readFileSync(join(vectors, file)).toString('base64');
    const evidence = {
      report: base64('snp-milan.report'),
      vcek: base64('snp-milan.vcek.der'),
      quote: base64('tdx.quote'),
      collateral: readFileSync(join(vectors, 'tdx.collateral.json'), 'utf8'),
    };
    const page = createContext({ crypto, atob, TextDecoder, TextEncoder, ...evidence });
    runInContext(outputFiles[0]?.text ?? '', page);
    expect(await (page['result'] as Promise<string>)).toBe('report_data,report_data');
  });
});
