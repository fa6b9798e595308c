import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startStack } from '../local/stack.ts';
import { oneOf } from './support/amounts.ts';
import { blocksOf, deadProxy, isThere, runIn, shells, watchingLoop, type Shell } from './support/readme.ts';
import { sharedByTests } from './support/shared-by-tests.ts';

const sections = ['Start it, test it', 'A tour'];
const names = Object.keys(shells) as Shell[];
const there = names.filter(isThere);
const [first = 'bash', ...others] = there;
const tried = oneOf([first, ...others]);

const stack = sharedByTests(() => startStack({ port: 0, simulator: true }));

describe('the README', () => {
  it('has lines that can be pasted into a prompt: no comments, no line that goes on in the next one', () => {
    const lines = sections.flatMap((section) => blocksOf(section)).flatMap((block) => block.trim().split('\n'));
    expect(lines.length).toBeGreaterThan(20);
    expect(lines.filter((line) => /(?:^|\s)#/.test(line) || line.endsWith('\\') || line === '')).toEqual([]);
  });

  it.for(names)(
    'has a tour whose lines all work in %s, behind a proxy, with a completed and then a cancelled run',
    async (shell, { skip }) => {
      if (!there.includes(shell)) skip(`${shell} is not on this machine.`);
      if (!tried.includes(shell)) skip(`npm test tries ${tried.join()}, npm run test:full every shell.`);
      const { port } = new URL(stack.baseUrl);
      const lines = blocksOf('A tour').join('');
      const { code, output } = await runIn(shell, lines, { env: { PORT: port, ...deadProxy } });
      expect(output).toContain('"missing_items":{"keys":["alice"],"hashes":[],"info":["Missing algorithm"]}');
      expect(output).toContain('"missing_items":{"keys":[],"hashes":[],"info":[]}');
      expect(output).toContain('"result_consumers"');
      expect(output).toContain('"event_type":"completed"');
      expect(output).toContain('"comp_stats"');
      expect(output).toContain('"event_type":"cancelled"');
      expect(output).not.toMatch(/not found|error/i);
      expect(code, output).toBe(0);
    },
  );

  it('has a tour after whose first lines the loop of docs/watching.md prints each event', async ({ skip }) => {
    const isMissing = spawnSync('bash', ['-c', 'command -v jq']).status !== 0;
    if (isMissing) skip('bash or jq is not on this machine.');
    const { port } = new URL(stack.baseUrl);
    const lines = [...blocksOf('A tour').slice(0, 2), watchingLoop()].join('\n');
    const env = { ...process.env, PORT: port, ...deadProxy };
    const child = spawn('bash', [...shells.bash, lines], { env, cwd: join(import.meta.dirname, '..'), detached: true });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
    child.once('close', () => (output += 'The loop ended.'));
    onTestFinished(() => {
      if (child.exitCode === null && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    });
    await expect.poll(() => output).toMatch(/\dZ created |The loop ended/);
    expect(output).not.toContain('The loop ended.');
  });
});
