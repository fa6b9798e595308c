import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';

it.each([
  ['--domain', 'd1'],
  ['--asset', 'a'],
])('npm run index refuses --all with %s, which it would ignore', async (...named) => {
  const command = join(import.meta.dirname, '../../../infra/local/maintain-index.ts');
  const child = spawn(process.execPath, [command, 'check', '--all', ...named]);
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const [stdout, stderr, status] = await Promise.all([text(child.stdout), text(child.stderr), exited]);
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr).toContain('--all takes neither --domain nor --asset.');
});
