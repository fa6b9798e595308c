import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { killServices, startService, type ServiceProcess } from '../support/service-process.ts';
import { demandPrerequisites } from '../prerequisites.ts';
import { SmallDisk } from './small-disk.ts';
import { clientOf, lostOf, work, type Acknowledged } from './work.ts';

const usage = `Usage: npm run check:disk -- [--from PAGES] [--to PAGES] [--step PAGES]

Starts the service on a disk with a given number of free pages of 4 KiB, with a new directory and with one that contains state.
Works with it until the disk is full, and kills it. Then frees the space: the next start must succeed and contain everything
that was acknowledged. Needs Linux and permission to mount (root). Defaults: from 0 to 160, step 4.`;

const { values } = parseArgs({
  options: {
    from: { type: 'string', default: '0' },
    to: { type: 'string', default: '160' },
    step: { type: 'string', default: '4' },
    help: { type: 'boolean', default: false },
  },
});

const garbled = /Unexpected end|SyntaxError|\n {4}at /;
const clear = /no space is left|disk is full|disk I\/O error|Cannot lock/;

const disk = new SmallDisk();
const kept = mkdtempSync(join(tmpdir(), 'kept-'));

function cleanUp(): void {
  killServices();
  disk.remove();
  rmSync(kept, { recursive: true, force: true, maxRetries: 5 });
}

interface Row {
  directory: 'kept' | 'new';
  'pages left': number;
  start: 'answers' | 'refused';
  acknowledged: number;
  refused: number;
  /** The problems found. Empty if there were none. */
  wrong: string;
}

/** Tests one disk with `pages` free pages. `state` is the directory to start with. Default: a new one. */
async function check(state: { directory: string; held: Acknowledged[] } | undefined, pages: number): Promise<Row> {
  disk.mount();
  const wrong: string[] = [];
  const services: ServiceProcess[] = [];
  try {
    if (state) cpSync(state.directory, disk.data, { recursive: true });
    else mkdirSync(disk.data);
    disk.leave(pages);
    const service = await startService(['--data', disk.data]);
    services.push(service);
    const answered = !service.hasEnded();
    const { acknowledged, refused } = answered ? await work(clientOf(service.baseUrl)) : { acknowledged: [], refused: [] };
    await service.end('SIGKILL');
    const output = service.output();
    if (garbled.test(output.replaceAll(/^\{.*\}$/gm, ''))) wrong.push('garbled message');
    if ((!answered || refused.length > 0) && !clear.test(output)) wrong.push(`no clear message: ${output.slice(-200)}`);
    if (refused.some((status) => status !== 503)) wrong.push(`statuses ${[...new Set(refused)].join()}`);

    disk.free();
    const next = await startService(['--data', disk.data]);
    services.push(next);
    if (next.hasEnded()) wrong.push(`the next start fails: ${next.output()}`);
    else {
      const lost = await lostOf(clientOf(next.baseUrl), [...(state?.held ?? []), ...acknowledged]);
      wrong.push(...lost.map((what) => `lost ${what}`));
    }
    return {
      directory: state ? 'kept' : 'new',
      'pages left': pages,
      start: answered ? 'answers' : 'refused',
      acknowledged: acknowledged.length,
      refused: refused.length,
      wrong: wrong.join('; '),
    };
  } finally {
    for (const service of services) await service.end('SIGKILL');
    disk.unmount();
  }
}

/** Fills a directory with state, for tests of disks that fill up later. */
async function prepare(directory: string): Promise<Acknowledged[]> {
  const service = await startService(['--data', directory]);
  try {
    const { acknowledged, refused } = await work(clientOf(service.baseUrl));
    const isComplete = refused.length === 0 && acknowledged.some(({ value }) => value === 'completed');
    if (!isComplete) throw new Error(`The service does not work on a disk with space: ${service.output()}`);
    return acknowledged;
  } finally {
    await service.end('SIGTERM');
  }
}

process.on('exit', cleanUp);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(130));

if (values.help) {
  process.stdout.write(`${usage}\n`);
} else {
  demandPrerequisites('check:disk');
  const held = await prepare(kept);
  const rows: Row[] = [];
  for (let pages = Number(values.from); pages <= Number(values.to); pages += Number(values.step)) {
    for (const state of [undefined, { directory: kept, held }]) {
      const row = await check(state, pages);
      process.stderr.write(`${JSON.stringify(row)}\n`);
      rows.push(row);
    }
  }
  console.table(rows);
  process.exitCode = rows.some((row) => row.wrong !== '') ? 1 : 0;
}
