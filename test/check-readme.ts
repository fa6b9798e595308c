import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../local/machine/listen.ts';
import { blocksOf, deadProxy, isThere, runIn, shells, type Shell, whileRunning } from './support/readme.ts';

/**
 * Types the README's commands into every shell of this machine, in a copy without node_modules: `npm ci && npm start` with
 * --ignore-scripts on another port, then the service and the tour behind a proxy that does not answer. Takes a few minutes for
 * each shell. `npm run check:readme fish` tries one.
 */
const root = join(import.meta.dirname, '..');
const given = process.argv.slice(2) as Shell[];
const tried = given.length > 0 ? given : (Object.keys(shells) as Shell[]);
const [install = ''] = blocksOf('Start it, test it');
const tour = blocksOf('A tour').join('');

function copyOfRepository(): string {
  const copy = mkdtempSync(join(tmpdir(), 'readme-'));
  const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: root, encoding: 'utf8' });
  for (const file of files.trim().split('\n')) cpSync(join(root, file), join(copy, file));
  return copy;
}

async function check(shell: Shell, cwd: string): Promise<void> {
  const PORT = String(await freePort());
  const printed = await whileRunning(shell, install, { cwd, env: { PORT, npm_config_ignore_scripts: 'true' } });
  if (/EBADENGINE|npm warn/i.test(printed)) throw new Error(`npm warns: ${printed}`);
  await whileRunning(shell, 'npm start', { cwd, env: { PORT, ...deadProxy } }, async () => {
    const { code, output } = await runIn(shell, tour, { cwd, env: { PORT, ...deadProxy } });
    if (code !== 0 || !output.includes('"event_type":"cancelled"')) throw new Error(`The tour fails: ${output}`);
  });
}

const cwd = copyOfRepository();
try {
  for (const shell of tried) {
    const isMissing = !isThere(shell);
    if (!isMissing) await check(shell, cwd);
    process.stdout.write(`${shell}: ${isMissing ? 'not on this machine, skipped' : 'every command works'}\n`);
  }
} finally {
  rmSync(cwd, { recursive: true });
}
