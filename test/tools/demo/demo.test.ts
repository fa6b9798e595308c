import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import { demoCommand } from '../../../tools/demo/demo.ts';
import { oneOf } from '../../support/amounts.ts';
import { childrenOf, isAlive } from '../../support/service-process.ts';

const demo = join(import.meta.dirname, '../../../tools/demo/demo.ts');
const running = new Set<ChildProcess>();

afterEach(() => {
  for (const child of running) child.kill('SIGKILL');
});

function start(environment: Record<string, string> = {}) {
  const env = { ...process.env, ...environment };
  const child = spawn(process.execPath, [demo], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  running.add(child);
  let printed = '';
  child.stdout.on('data', (chunk) => (printed += String(chunk)));
  const stderr = text(child.stderr);
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve)).finally(() => running.delete(child));
  return {
    pid: child.pid ?? 0,
    printed: () => printed,
    kill: (signal: NodeJS.Signals) => child.kill(signal),
    ended: async () => ({ code: await exited, stdout: printed, stderr: await stderr }),
  };
}

describe('npm run demo', () => {
  it('completes one run, stops another, ends with a released result whose evidence holds, and exits with 0', async () => {
    const { code, stdout, stderr } = await start().ended();
    expect(stderr).toBe('');
    expect(stdout).toContain('the key of reviewer; Missing algorithm');
    expect(stdout).toContain('its content is withheld, its hash is');
    expect(stdout).toContain('nothing: ready to run');
    expect(stdout).toMatch(/completed: The CVM finished the run\.[^]*cancelled: Stopped; the CVM confirmed it\./);
    expect(stdout.match(/as in the manifest/g)).toHaveLength(2);
    expect(stdout).toMatch(/releases it, signed +released\n.* downloads the result +[^\n]+ as its signed statement says\n/);
    expect(stdout).toMatch(/verifies run and result +Everything that was checked holds \(\d notes\)\.\n\n +Everything happened/);
    expect(stdout).not.toMatch(/✗|\u001b/);
    expect(code).toBe(0);
  });

  it.each(oneOf(['SIGINT', 'SIGTERM'] as const))('leaves no process behind after %s, and exits with 1', async (signal) => {
    const process = start();
    await expect.poll(process.printed).toContain('ReceivingAlgorithm');
    const children = childrenOf(process.pid);
    expect(children).toHaveLength(1);
    process.kill(signal);
    const { code, stderr } = await process.ended();
    expect(stderr).toBe('Interrupted.\n');
    expect(code).toBe(1);
    expect(children.filter(isAlive)).toEqual([]);
  });

  it('prints what failed, and exits with 1', async () => {
    const { code, stderr } = await start({ DYNAMODB_ENDPOINT: 'http://127.0.0.1:1' }).ended();
    expect(stderr).toContain('ECONNREFUSED');
    expect(code).toBe(1);
  });

  it('takes no arguments', async () => {
    await expect(demoCommand(['--fast'])).rejects.toMatchObject({ name: 'UsageError' });
  });
});
