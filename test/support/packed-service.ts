import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../local/machine/listen.ts';
import { blocksOf, whileRunning } from './readme.ts';

/** The two commands of the README for people without a checkout: one packs the service, one starts its tarball. */
export function linesWithoutCheckout(): { pack: string; start: string } {
  const [pack = '', start = ''] = (blocksOf('Start it, test it').at(-1) ?? '').trim().split('\n');
  return { pack, start };
}

/**
 * Starts the packed service by a line, and uses it: asks for its health, creates a computation with the token that it prints, and opens
 * the console, the reference and the page to sign in. Then ends it as Ctrl-C does.
 * @param folder where the tarball is, and nothing else of the service
 * @param env the variables of npm, and a PATH with the Node to use
 * @returns what it printed, and the version that `/health` says
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
  const authorized = (printed: string) => ({
    authorization: `Bearer ${/^export TOKEN=(\S+)$/m.exec(printed)?.[1]}`,
    'content-type': 'application/json',
  });
  let version: unknown;
  const options = { cwd: folder, env: { ...env, PORT, npm_config_yes: 'true' } };
  const printed = await whileRunning('dash', `${line} --data ${join(folder, 'data')}`, options, async (welcome) => {
    ({ version } = JSON.parse(await answerTo('/health')) as { version: unknown });
    const body = JSON.stringify({ name: 'first' });
    await answerTo('/d1/computations', { method: 'POST', headers: authorized(welcome), body });
    const pages = await Promise.all(['/console/', '/docs', '/local/issuer/sign-in', '/help/'].map((path) => answerTo(path)));
    if (!pages.every((page) => page.startsWith('<!doctype html>'))) throw new Error(`A page is none: ${pages.join('\n')}`);
    const script = /<script [^>]*src="([^"]+)"/.exec(pages[0] ?? '')?.[1] ?? '';
    await Promise.all(
      [script, '/docs/swagger-ui-bundle.js', '/docs/docs.js', '/local/issuer/sign-in.js'].map((path) => answerTo(path)),
    );
  });
  rmSync(join(folder, 'data'), { recursive: true }); // there is one: the state was kept in it
  return { printed, version };
}
