import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { bundleCanary, bundleReference } from '../../infra/bundles.ts';
import { copyCheckout } from '../support/checkout.ts';

it('an npm pack that is killed while package.json is that of the tarball leaves the original', async () => {
  const checkout = copyCheckout();
  const file = join(checkout, 'packages/attestation/package.json');
  const original = readFileSync(file, 'utf8');
  const npm = spawn('npm', ['pack', '-w', 'packages/attestation'], { cwd: checkout, stdio: 'ignore' });
  const ended = once(npm, 'exit');
  await expect.poll(() => existsSync(`${file}.orig`), { interval: 1 }).toBe(true);
  npm.kill('SIGKILL');
  await ended;
  await expect.poll(() => existsSync(`${file}.orig`)).toBe(false);
  expect(readFileSync(file, 'utf8')).toBe(original);
  rmSync(checkout, { recursive: true });
});

it('a tarball has the licenses of the packages in the bundles that are copied to it', async () => {
  const checkout = copyCheckout();
  const folder = join(checkout, 'packages/attestation');
  const bundles = [bundleCanary(join(checkout, 'canary')), bundleReference(join(checkout, 'reference'))];
  writeFileSync(join(checkout, 'metafiles.json'), JSON.stringify(await Promise.all(bundles)));
  const args = ['../../tools/pack.ts', '--metafiles', '../../metafiles.json'];
  expect(await once(spawn(process.execPath, args, { cwd: folder, stdio: 'inherit' }), 'exit')).toEqual([0, null]);
  const names = readFileSync(join(folder, 'dist/licenses.txt'), 'utf8').match(/^\S+(?= \d+\.\d+\.\d+$)/gm);
  expect(names).toEqual(expect.arrayContaining(['openapi-fetch', 'swagger-ui-dist', 'valibot']));
  expect(names).not.toContain('esbuild');
  rmSync(checkout, { recursive: true });
});
