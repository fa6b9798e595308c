import { readdir, stat } from 'node:fs/promises';
import * as http from 'node:http';
import { join } from 'node:path';
import { causeOf } from 'computation-management-client';
import { printable } from 'computation-management-formats/printable';
import { shellWord, userText } from 'computation-management-words';
import type { Context } from '../context/context.ts';
import { proxyVariable, useProxies } from '../context/target.ts';
import { readPublicKey } from '../files/key-files.ts';
import { asCmsError, CmsError, exitCodes } from '../terminal/cms-error.ts';
import type { CmsCommand } from './options.ts';

const longestWaitInMilliseconds = 5_000;
const largestSkewInSeconds = 60;

/** Asks the service for its version, without a login. */
async function health({ target, terminal: { signal, now } }: Context) {
  const { server } = await target();
  const before = now();
  const response = await fetch(`${server}/health`, {
    redirect: 'error',
    signal: AbortSignal.any([signal, AbortSignal.timeout(longestWaitInMilliseconds)]),
  }).catch((cause: unknown) => {
    throw new CmsError(`No service answers at ${server}: ${causeOf(cause)}`, { cause });
  });
  const { version = '', stage = '' } = (await response.json()) as { version?: string; stage?: string };
  if (!response.ok || version === '') throw new CmsError(`${server} answers, but not as the service.`);
  return { server, version, stage, skew: (Date.parse(response.headers.get('date') ?? '') - before) / 1_000 };
}

/** The checks of `cms doctor`, by name. A check returns what it found, or throws an error that says what is wrong. */
const checks: Record<string, (context: Context) => Promise<string>> = {
  server: async (context) => {
    const { server, version, stage } = await health(context);
    return `${server} answers, version ${version}, stage ${stage}`;
  },
  clock: async (context) => {
    const { skew } = await health(context);
    if (Number.isNaN(skew)) return 'the service names no time';
    if (Math.abs(skew) <= largestSkewInSeconds) return 'agrees with that of the service';
    throw new CmsError(
      `The clock of this machine is ${Math.abs(Math.round(skew))} s ${skew > 0 ? 'behind' : 'ahead of'} that of the service. Set it.`,
    );
  },
  token: async (context) => {
    const { client, user, domain } = await context.connect();
    await client.listComputations({ limit: 1 });
    return `the service accepts it, as ${userText(user)} in the domain ${domain}`;
  },
  key: async ({ terminal: { home } }) => {
    const folder = join(home, '.ssh');
    const files = (await readdir(folder).catch((): string[] => [])).filter((name) => name.endsWith('.pub'));
    const keys = await Promise.allSettled(files.map((name) => readPublicKey(join(folder, name))));
    const read = keys.flatMap((key, index) =>
      key.status === 'fulfilled' ? [`~/.ssh/${files[index] ?? ''} ${key.value.fingerprint}`] : [],
    );
    if (read.length > 0) return read.join(', ');
    throw new CmsError('You have no public key in ~/.ssh.', { next: 'ssh-keygen -t ed25519' });
  },
  proxy: async ({ terminal: { env } }) => {
    const variable = proxyVariable(env);
    if (variable === undefined) return 'none';
    useProxies(env);
    if ('setGlobalProxyFromEnv' in http) return `that of ${variable}`;
    throw new CmsError(`${variable} is set, but Node ${process.version} uses no proxies. Node 24.14 or newer does.`);
  },
  machine: async ({ profiles: { file } }) => {
    const found = await stat(file).catch(() => undefined);
    const isOpen = process.platform !== 'win32' && found !== undefined && (found.mode & 0o077) !== 0;
    if (isOpen) throw new CmsError(`Others can read your logins in ${file}.`, { next: `chmod 600 ${shellWord(file)}` });
    return `Node ${process.version}, logins in ${file}${found ? '' : ' (none yet)'}`;
  },
};

export function addDoctorCommand(program: CmsCommand): void {
  program
    .subcommand('doctor', 'check the service, the clock, the login, your keys, the proxy and this machine')
    .does(async (context) => {
      const items = [];
      for (const [check, look] of Object.entries(checks)) {
        try {
          items.push({ check, ok: true, detail: await look(context), next: undefined });
        } catch (error) {
          const { message: detail, next } = asCmsError(await context.explain(error));
          items.push({ check, ok: false, detail, next });
        }
      }
      context.terminal.signal.throwIfAborted();
      const lines = items.map(
        ({ check, ok, detail, next }) =>
          `${ok ? '✓' : '✗'} ${check.padEnd(8)} ${printable(detail)}\n${next === undefined ? '' : `    ${printable(next)}\n`}`,
      );
      context.print({ items }, () => lines.join(''));
      if (items.some(({ ok }) => !ok)) context.exitWith(exitCodes.failure);
    });
}
