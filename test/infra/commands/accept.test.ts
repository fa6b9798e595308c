import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import { acceptCommand } from '../../../infra/commands/accept.ts';
import { killServices, startService } from '../../support/service-process.ts';

afterEach(() => killServices());

async function accept(port: string, ...args: string[]) {
  const command = join(import.meta.dirname, '../../../infra/commands/accept.ts');
  const child = spawn(process.execPath, [command, ...args], { env: { ...process.env, PORT: port } });
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const [stdout, stderr, status] = await Promise.all([text(child.stdout), text(child.stderr), exited]);
  return { status, stdout, stderr };
}

describe('npm run accept', () => {
  it('measures on one machine, lists what one machine cannot show, and removes its domain', async () => {
    const service = await startService([]);
    const { port } = new URL(service.baseUrl);
    const sample = ['--changes', '12', '--writes-per-second', '20', '--seconds', '1', '--yes'];
    const { status, stdout, stderr } = await accept(port, ...sample);
    expect(stderr).toBe('');
    expect(stdout).toMatch(/^totals and pages .* 12 creates and 4 deletes: all exact +yes$/m);
    const contended =
      /^8 clients change one computation .* (\d+) made, \d+ in the journal, (\d+) answered 503, 0 others, p95 \d+ ms +yes$/m.exec(
        stdout,
      );
    expect(Number(contended?.[1]) + Number(contended?.[2])).toBe(40);
    expect(stdout).toMatch(
      /^creates per second .* \d+ per second made; at \d+ offered, 0 answered 429, .* 0 others, p95 \d+ ms +-$/m,
    );
    expect(stdout.match(/ not measured: one machine has none of AWS +-$/gm)).toHaveLength(4);
    const [, domain = ''] = /Removed the domain (accept-[0-9a-f]{8}): [1-9]\d* items\./.exec(stdout) ?? [];
    expect(domain).not.toBe('');
    expect(status).toBe(0);
    await service.end('SIGTERM');
  });

  it('prints the cost and does nothing without --yes', async () => {
    const { status, stdout } = await accept('9', '--stage', 'dev');
    expect(status).toBe(0);
    expect(stdout).toMatch(/^At most [\d,]+ calls on dev, at most \$0\.\d\d\.\nNothing was measured\./);
  });

  it('prints a mistake on the command line with its usage, and exits with 2', async () => {
    const { status, stderr } = await accept('9', '--stage', 'nowhere', '--yes');
    expect(status).toBe(2);
    expect(stderr).toMatch(/^--stage is "nowhere"; expected one of .*\n\nUsage: npm run accept/);
  });

  it.each([
    [['--seconds', '0'], '--seconds is "0"; expected a number from 1 to 60.'],
    [['--writes-per-second', '1e9'], '--writes-per-second is "1e9"; expected a number from 1 to 2000.'],
    [['--url', 'https://api.example.com'], '--url is for a stage: give --stage as well.'],
  ])('refuses the arguments %j', async (args, message) => {
    await expect(acceptCommand(args)).rejects.toMatchObject({ name: 'UsageError', message });
  });
});
