import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
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
