import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../../local/machine/listen.ts';
import { longestWaitInMilliseconds } from './patience.ts';
import { type Call, callAs, readyComputation } from './ready-computation.ts';
import { blocksOf, whileRunning } from './readme.ts';

/** The two commands of the README for people without a checkout: one packs the service, one starts its tarball. */
export function linesWithoutCheckout(): { pack: string; start: string } {
  const [pack = '', start = ''] = (blocksOf('Start it, test it').at(-1) ?? '').trim().split('\n');
  return { pack, start };
}

/**
 * Starts the packed service by a line, and uses it: asks for its health, runs a computation to its end on a simulated CVM with the token
 * that it prints, and opens the console, the reference and the page to sign in. Then ends it as Ctrl-C does, starts it again with the same
 * data, and finds the run.
 * @param folder where the tarball is, and nothing else of the service
 * @param env the variables of npm, and a PATH with the Node to use
 * @returns what it printed at the first start, and the version that `/health` says
 * @throws Error if an answer is not as expected
 */
export async function tryService(
  line: string,
  { folder, env }: { folder: string; env: Record<string, string> },
): Promise<{ printed: string; version: unknown }> {
  const PORT = String(await freePort());
  const baseUrl = `http://localhost:${PORT}`;
  const answerTo = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(baseUrl + path, init);
    const body = await response.text();
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${body}`);
    return body;
  };
  const callOf = (printed: string) => callAs(baseUrl, /^export TOKEN=(\S+)$/m.exec(printed)?.[1] ?? '');
  let version: unknown;
  let path = '';
  let run: unknown;
  const options = { cwd: folder, env: { ...env, PORT, npm_config_yes: 'true' } };
  const start = `${line} --data ${join(folder, 'data')}`;
  const printed = await whileRunning('dash', start, options, async (welcome) => {
    ({ version } = JSON.parse(await answerTo('/health')) as { version: unknown });
    const call = callOf(welcome);
    path = `/d1/computations/${await readyComputation(call)}/run`;
    const started = await call('POST', `${path}?cvm=cvm-1`);
    if (started.status !== 200) throw new Error(`POST ${path} answered ${started.status}: ${JSON.stringify(started.body)}`);
    run = started.body;
    await completed(call, path, run);
    const pages = await Promise.all(['/console/', '/docs', '/local/issuer/sign-in', '/help/'].map((path) => answerTo(path)));
    if (!pages.every((page) => page.startsWith('<!doctype html>'))) throw new Error(`A page is none: ${pages.join('\n')}`);
    const script = /<script [^>]*src="([^"]+)"/.exec(pages[0] ?? '')?.[1] ?? '';
    await Promise.all(
      [script, '/docs/swagger-ui-bundle.js', '/docs/docs.js', '/local/issuer/sign-in.js'].map((path) => answerTo(path)),
    );
  });
  await whileRunning('dash', start, options, (welcome) => completed(callOf(welcome), path, run));
  rmSync(join(folder, 'data'), { recursive: true });
  return { printed, version };
}

/** Waits until the run at a path is completed. @throws Error if the path has another run, or this one ends in another way or never */
async function completed(call: Call, path: string, run: unknown): Promise<void> {
  const endsAt = performance.now() + longestWaitInMilliseconds;
  for (;;) {
    const { status, body } = await call('GET', path);
    if (body['id'] === run && body['status'] === 'completed') return;
    if (body['id'] !== run || body['status'] !== 'running' || performance.now() > endsAt)
      throw new Error(`GET ${path} answered ${status} for the run ${String(run)}: ${JSON.stringify(body)}`);
    await delay(250);
  }
}
