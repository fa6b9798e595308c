import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Call } from '../test/infra/local/ready-computation.ts';
import { startService, type ServiceProcess } from '../test/infra/local/service-process.ts';
import { printTable } from './print-table.ts';

const usage = `Usage: npm run check:disk -- [--from PAGES] [--to PAGES] [--step PAGES]

Starts the service on a disk with a given number of free pages of 4 KiB, with a new directory and with one that contains state.
Works with it until the disk is full, and kills it. Then frees the space: the next start must succeed and contain everything
that was acknowledged. Needs Linux and permission to mount (root). Defaults: from 0 to 120, step 4.`;

const { values } = parseArgs({
  options: {
    from: { type: 'string', default: '0' },
    to: { type: 'string', default: '120' },
    step: { type: 'string', default: '4' },
    help: { type: 'boolean', default: false },
  },
});

const pageInBytes = 4096;
const diskInMebibytes = 32;
const garbled = /Unexpected end|SyntaxError|\n {4}at /;
const clear = /no space is left|disk is full|disk I\/O error|Cannot lock/;

/** A GET whose response must contain this value after the next start. */
interface Acknowledged {
  path: string;
  field: string;
  value: unknown;
}

interface Outcome {
  acknowledged: Acknowledged[];
  /** Statuses of requests that were refused. */
  refused: number[];
}

/** Creates and links up to 12 computations and assets. Stops after 3 refused requests. */
async function work(call: Call): Promise<Outcome> {
  const outcome: Outcome = { acknowledged: [], refused: [] };
  const send = async (method: string, path: string, body?: unknown) => {
    const answer = await call(method, path, body).catch(() => ({ status: 0, body: {} }));
    if (answer.status < 200 || answer.status > 299) outcome.refused.push(answer.status);
    return answer.status > 199 && answer.status < 300 ? (answer.body as Record<string, unknown>) : undefined;
  };
  for (let round = 0; round < 12 && outcome.refused.length < 3; round++) {
    const computation = await send('POST', '/d1/computations', { name: `N${round}` });
    if (!computation) continue;
    const id = String(computation['id']);
    outcome.acknowledged.push({ path: `/d1/computations/${id}?peek=true`, field: 'name', value: `N${round}` });
    const content = Buffer.alloc(3_000 * (round + 1), 'x').toString('base64');
    const asset = await send('POST', '/d1/assets', {
      asset: { file_name: `${round}.py`, asset_type: 'algorithm', asset: content },
    });
    if (!asset) continue;
    outcome.acknowledged.push({ path: `/d1/assets/${String(asset['id'])}`, field: 'asset', value: content });
    if (!(await send('POST', `/d1/assets/${String(asset['id'])}/${id}`))) continue;
    outcome.acknowledged.push({ path: `/d1/assets/${String(asset['id'])}/computations`, field: 'total', value: 1 });
  }
  return outcome;
}

async function lostOf(call: Call, acknowledged: Acknowledged[]): Promise<string[]> {
  const lost: string[] = [];
  for (const { path, field, value } of acknowledged) {
    const { body } = await call('GET', path);
    if (body[field] !== value) lost.push(path);
  }
  return lost;
}

const disk = mkdtempSync(join(tmpdir(), 'disk-'));
const data = join(disk, 'data');
const filler = join(disk, 'filler');

function leave(pages: number): void {
  const { bavail, bsize } = statfsSync(disk);
  writeFileSync(filler, Buffer.alloc(Math.max(0, bavail * bsize - pages * pageInBytes)));
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
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${diskInMebibytes}m`, 'tmpfs', disk]);
  const wrong: string[] = [];
  const services: ServiceProcess[] = [];
  try {
    if (state) cpSync(state.directory, data, { recursive: true });
    else mkdirSync(data);
    leave(pages);
    const service = await startService(['--data', data]);
    services.push(service);
    const answered = !service.hasEnded();
    const { acknowledged, refused } = answered ? await work(service.call) : { acknowledged: [], refused: [] };
    await service.end('SIGKILL');
    const output = service.output();
    if (garbled.test(output.replaceAll(/^\{.*\}$/gm, ''))) wrong.push('garbled message');
    if ((!answered || refused.length > 0) && !clear.test(output)) wrong.push(`no clear message: ${output.slice(-200)}`);
    if (refused.some((status) => status !== 503)) wrong.push(`statuses ${[...new Set(refused)].join()}`);

    rmSync(filler);
    const next = await startService(['--data', data]);
    services.push(next);
    if (next.hasEnded()) wrong.push(`the next start fails: ${next.output()}`);
    else wrong.push(...(await lostOf(next.call, [...(state?.held ?? []), ...acknowledged])).map((path) => `lost ${path}`));
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
    execFileSync('umount', ['-l', disk]);
  }
}

/** Fills a directory with state, for tests of disks that fill up later. */
async function prepare(directory: string): Promise<Acknowledged[]> {
  const service = await startService(['--data', directory]);
  const { acknowledged } = await work(service.call);
  await service.end('SIGTERM');
  return acknowledged;
}

if (values.help) {
  process.stdout.write(`${usage}\n`);
} else {
  const directory = mkdtempSync(join(tmpdir(), 'kept-'));
  try {
    const held = await prepare(directory);
    const rows: Row[] = [];
    for (let pages = Number(values.from); pages <= Number(values.to); pages += Number(values.step)) {
      for (const state of [undefined, { directory, held }]) {
        const row = await check(state, pages);
        process.stderr.write(`${JSON.stringify(row)}\n`);
        rows.push(row);
      }
    }
    printTable(rows);
    process.exitCode = rows.some((row) => row.wrong !== '') ? 1 : 0;
  } finally {
    rmSync(directory, { recursive: true });
    rmSync(disk, { recursive: true });
  }
}
