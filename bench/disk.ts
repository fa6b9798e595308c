import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type Call, callAs } from '../test/infra/local/ready-computation.ts';
import { killServices, startService, type ServiceProcess } from '../test/infra/local/service-process.ts';
import { printTable } from './print-table.ts';

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

type Send = (method: string, path: string, body?: unknown) => Promise<Record<string, unknown> | undefined>;

const roundsPerRun = 4;

/**
 * Creates and links up to 12 computations and assets. Runs every fourth computation until it is completed, after it has
 * uploaded a dataset for it with a presigned request. Stops after 3 refused requests.
 */
async function work({ baseUrl }: ServiceProcess): Promise<Outcome> {
  const call = callAs(baseUrl, await tokenFor(baseUrl, ['d1:administrator', 'd1:cvm']));
  const outcome: Outcome = { acknowledged: [], refused: [] };
  const send: Send = async (method, path, body) => {
    const answer = await call(method, path, body).catch(() => ({ status: 0, body: {} }));
    if (answer.status < 200 || answer.status > 299) outcome.refused.push(answer.status);
    return answer.status > 199 && answer.status < 300 ? answer.body : undefined;
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
    if (round % roundsPerRun !== 0) continue;
    outcome.acknowledged.push(...(await upload(send, `${round}.csv`)), ...(await run(send, id, `cvm-${round}`)));
  }
  return outcome;
}

async function tokenFor(baseUrl: string, groups: string[]): Promise<string> {
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ sub: 'alice', groups, expires_in: 3_600 });
  const response = await fetch(`${baseUrl}/local/token`, { method: 'POST', headers, body });
  return ((await response.json()) as { access_token: string }).access_token;
}

/** Uploads a dataset with a presigned request. Acknowledges it once the asset has the content. */
async function upload(send: Send, fileName: string): Promise<Acknowledged[]> {
  const asset = await send('POST', '/d1/assets', { asset: { file_name: fileName, asset_type: 'dataset' } });
  if (!asset) return [];
  const { method, url, headers } = asset['upload'] as { method: string; url: string; headers: Record<string, string> };
  const body = '5.1,3.5\n'.repeat(1_000);
  const uploaded = await fetch(url, { method, headers, body }).catch(() => undefined);
  if (uploaded?.status !== 200) return []; // the local S3 answers 500 when its disk is full
  return await once(send, { path: `/d1/assets/${String(asset['id'])}`, field: 'asset', value: btoa(body) });
}

/** Runs a computation as its CVM would. Acknowledges the run once the computation is completed. */
async function run(send: Send, id: string, cvm: string): Promise<Acknowledged[]> {
  const key = generateKeyPairSync('ed25519').publicKey.export({ format: 'pem', type: 'spki' });
  if (!(await send('POST', `/d1/computations/${id}/key`, { key: Buffer.from(key).toString('base64') }))) return [];
  const run_id = await send('POST', `/d1/computations/${id}/run?cvm=${cvm}`);
  if (!run_id) return [];
  let command: { id: string } | undefined;
  for (let tries = 0; tries < mostTries && !command; tries++) {
    const listed = await send('GET', `/d1/cvms/${cvm}/commands`);
    if (!listed) return [];
    [command] = listed['commands'] as { id: string }[];
    await delay(pauseInMilliseconds);
  }
  const reports = [
    { id: '1', run_id, type: 'accepted', command_id: command?.id },
    { id: '2', run_id, type: 'event', event_type: 'Complete', status: 'Completed' },
  ];
  if (!command || !(await send('POST', `/d1/cvms/${cvm}/reports`, { reports }))) return [];
  return await once(send, { path: `/d1/computations/${id}?peek=true`, field: 'status', value: 'completed' });
}

const mostTries = 50;
const pauseInMilliseconds = 100;

/** Waits until a GET returns the value. Returns nothing if it does not in time, as on a full disk. */
async function once(send: Send, expected: Acknowledged): Promise<Acknowledged[]> {
  for (let tries = 0; tries < mostTries; tries++) {
    const found = await send('GET', expected.path);
    if (!found) return [];
    if (found[expected.field] === expected.value) return [expected];
    await delay(pauseInMilliseconds);
  }
  return [];
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
const kept = mkdtempSync(join(tmpdir(), 'kept-'));
let isMounted = false;

function mount(): void {
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${diskInMebibytes}m`, 'tmpfs', disk]);
  isMounted = true;
}

function unmount(): void {
  if (isMounted) execFileSync('umount', ['-l', disk]);
  isMounted = false;
}

function cleanUp(): void {
  killServices();
  unmount();
  for (const directory of [disk, kept]) rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
}

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
  mount();
  const wrong: string[] = [];
  const services: ServiceProcess[] = [];
  try {
    if (state) cpSync(state.directory, data, { recursive: true });
    else mkdirSync(data);
    leave(pages);
    const service = await startService(['--data', data]);
    services.push(service);
    const answered = !service.hasEnded();
    const { acknowledged, refused } = answered ? await work(service) : { acknowledged: [], refused: [] };
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
    unmount();
  }
}

/** Fills a directory with state, for tests of disks that fill up later. */
async function prepare(directory: string): Promise<Acknowledged[]> {
  const service = await startService(['--data', directory]);
  try {
    const { acknowledged, refused } = await work(service);
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
  const held = await prepare(kept);
  const rows: Row[] = [];
  for (let pages = Number(values.from); pages <= Number(values.to); pages += Number(values.step)) {
    for (const state of [undefined, { directory: kept, held }]) {
      const row = await check(state, pages);
      process.stderr.write(`${JSON.stringify(row)}\n`);
      rows.push(row);
    }
  }
  printTable(rows);
  process.exitCode = rows.some((row) => row.wrong !== '') ? 1 : 0;
}
