import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startStack, type Stack } from '../infra/local/stack.ts';

const root = new URL('..', import.meta.url);
const readme = readFileSync(new URL('README.md', root), 'utf8');

/** Returns the shell blocks of a section in order. */
function blocksOf(section: string): string[] {
  const text = readme.split(`## ${section}\n`)[1]?.split('\n## ')[0] ?? '';
  return [...text.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = '']) => block);
}

function bash(script: string, port: number): Promise<{ code: number | null; output: string }> {
  const shell = spawn('bash', ['-euo', 'pipefail', '-c', script], { cwd: root, env: { ...process.env, PORT: String(port) } });
  let output = '';
  for (const stream of [shell.stdout, shell.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
  return new Promise((resolve) => shell.once('close', (code) => resolve({ code, output })));
}

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ port: 0, simulator: true });
});
afterAll(() => stack.stop());

describe('the README', () => {
  it('has a tour whose commands all work, with a completed and then a cancelled run', async () => {
    const blocks = blocksOf('A tour');
    expect(blocks.length).toBeGreaterThan(4);
    const { port } = new URL(stack.baseUrl);
    const { code, output } = await bash(blocks.join('\n').replaceAll('http://localhost:3000', stack.baseUrl), Number(port));
    expect(output).toContain('"missing_items":{"keys":["alice"],"hashes":[],"info":["Missing algorithm"]}');
    expect(output).toContain('"missing_items":{"keys":[],"hashes":[],"info":[]}');
    expect(output).toContain('"event_type":"completed"');
    expect(output).toContain('"event_type":"cancelled"');
    expect(code, output).toBe(0);
  });
});
