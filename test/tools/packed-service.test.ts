import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { serviceVersion } from '../../shared/runtime/service-version.ts';
import { copyCheckout } from '../support/checkout.ts';
import { ownNode } from '../support/follow-readme.ts';
import { startInstalledRegistry } from '../support/installed-registry.ts';
import { linesWithoutCheckout, tryService } from '../support/packed-service.ts';
import { runIn } from '../support/readme.ts';
import { sharedByTests } from '../support/shared-by-tests.ts';

/** A folder with the tarball that the README's line makes, and what npm needs to install it without a network. */
const packed = sharedByTests(async () => {
  const checkout = copyCheckout(['docs', 'functions', 'gateway', 'local', 'shared', 'tools']);
  const { code, output } = await runIn('dash', linesWithoutCheckout().pack, { cwd: checkout });
  if (code !== 0) throw new Error(output);
  const folder = mkdtempSync(join(tmpdir(), 'stranger-'));
  const tarball = `computation-management-service-${serviceVersion()}.tgz`;
  cpSync(join(checkout, tarball), join(folder, tarball));
  execFileSync('tar', ['xzf', tarball, '-C', folder], { cwd: folder });
  symlinkSync(join(import.meta.dirname, '../../node_modules'), join(folder, 'package/node_modules'));
  const { env, stop } = await startInstalledRegistry();
  return {
    folder,
    checkout,
    env: { ...env, PATH: `${ownNode}:${process.env['PATH']}` },
    program: join(folder, 'package/dist/service/tools/commands/service.js'),
    stop: async () => {
      stop();
      for (const each of [checkout, folder]) rmSync(each, { recursive: true });
    },
  };
});

/** Runs the program of the package on another platform. */
async function runOn(platform: string, program: string) {
  const disguise = `data:text/javascript,Object.defineProperty(process, 'platform', { value: '${platform}' })`;
  return await runIn('dash', `node --import "${disguise}" ${program} --nope`, {
    env: { PATH: `${ownNode}:/usr/bin:/bin` },
  });
}

describe('the packed service', () => {
  it("starts in an empty folder with this machine's Node by the README's line, with its console and its data", async () => {
    const { folder, env } = packed;
    const { printed, version } = await tryService(linesWithoutCheckout().start, { folder, env });
    expect(version).toBe(serviceVersion());
    expect(printed).toMatch(/PORT=\d+ npx computation-management-service token --sub bob /);
    expect(printed).not.toMatch(/npm (run|start)|warn/i);
  });

  it('installs the engine and the lock of its data alone, and leaves package.json of the checkout as it was', () => {
    const manifest = JSON.parse(readFileSync(join(packed.folder, 'package/package.json'), 'utf8')) as Record<string, object>;
    expect(Object.keys({ ...manifest['dependencies'], ...manifest['optionalDependencies'] })).toEqual([
      'fs-native-extensions',
      '@dynoxide/linux-x64',
    ]);
    expect(manifest).not.toHaveProperty('scripts');
    expect(readdirSync(packed.checkout)).not.toContain('package.json.orig');
    expect(readFileSync(join(packed.checkout, 'package.json'), 'utf8')).toContain('"workspaces"');
  });

  it('has the licenses and notices of the packages that are in it, in its console and in the workers of the console', () => {
    const of = (path: string) => readFileSync(join(packed.folder, 'package/dist/service', path, 'licenses.txt'), 'utf8');
    expect(of('.')).toMatch(/^@aws-sdk\/client-dynamodb \d/m);
    expect(of('.')).toMatch(/^swagger-ui-dist \d[^]*Copyright [\d-]+ SmartBear[^]*Jed Watson/m);
    expect(of('console')).toMatch(/^@cloudscape-design\/components \d[^]*Copyright Amazon[^]*normalize\.css/m);
    expect(of('console')).toMatch(/^cborg \d/m); // only the worker that checks evidence loads it
  });

  it('says in one sentence what is missing on another platform, and exits with 2', async () => {
    expect(await runOn('darwin', packed.program)).toEqual({
      code: 2,
      output: expect.stringMatching(
        /^computation-management-service needs the DynamoDB engine, [^\n]*this is darwin-x64: [^\n]*\n$/,
      ),
    });
  });

  it('prints no trace for an option that is unknown, a stage, and a folder that it cannot write', async () => {
    const { folder, program } = packed;
    const env = { PATH: `${ownNode}:/usr/bin:/bin`, PORT: '0' };
    const outputs = await Promise.all(
      ['--nope', 'domain remove --domain d1 --stage dev', '--data /dev/null/data'].map((args) =>
        runIn('dash', `node ${program} ${args}`, { cwd: folder, env }),
      ),
    );
    expect(outputs.map(({ code }) => code)).toEqual([2, 2, 1]);
    expect(outputs.map(({ output }) => output.split('\n')[0])).toEqual([
      expect.stringMatching(/^Unknown option '--nope'/),
      '--stage works in a checkout of the repository alone.',
      expect.stringMatching(/^Cannot lock \/dev\/null\/data: ENOTDIR/),
    ]);
    expect(outputs.map(({ output }) => output).join()).not.toMatch(/^ {4}at /m);
  });
});
