import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import net from 'node:net';

/** Imports every function, records each side effect of an import, and prints the side effects by file. */

const done: string[] = [];
/** Records a side effect and who caused it: the caller is two frames above. Ignores what Node's own loader does. */
function note(what: string): void {
  const by = (new Error().stack ?? '').split('\n')[3]?.trim() ?? '';
  if (!by.includes('node:internal')) done.push(`${what} ${by}`);
}

process.env = new Proxy<NodeJS.ProcessEnv>(
  {},
  {
    get: (_, name) => note(`reads ${String(name)}`),
    has: (_, name) => {
      note(`looks for ${String(name)}`);
      return false;
    },
    ownKeys: () => {
      note('lists the environment');
      return [];
    },
  },
);
net.Socket.prototype.connect = () => {
  note('connects');
  throw new Error('There is no network.');
};
globalThis.fetch = () => {
  note('fetches');
  return Promise.reject(new Error('There is no network.'));
};

for (const stream of [process.stdout, process.stderr]) stream.write(''); // opens the streams, so that no import does
const folder = join(import.meta.dirname, '../../functions');
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.ts') && !/^(operations|reference)\//.test(file), // these are no handlers of routes or tasks
);
const found: Record<string, string[]> = {};
for (const file of files.sort()) {
  const resources = process.getActiveResourcesInfo().sort().join();
  const { handler } = (await import(join(folder, file))) as { handler?: unknown };
  if (typeof handler !== 'function') note('exports no handler');
  const left = process.getActiveResourcesInfo().sort().join();
  if (left !== resources) note(`leaves ${left} open instead of ${resources}`);
  found[file] = done.splice(0);
}
process.stdout.write(JSON.stringify(found));
