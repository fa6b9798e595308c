import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { createReadStream, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { startStack } from '../local/stack.ts';
import { startCuttingProxy, type CuttingProxy } from '../test/packages/client/cutting-proxy.ts';
import { printTable } from './print-table.ts';

/** Uploads and downloads 1 GiB with `cms`, or as many MiB as the argument says, cut off once on each way. Fails if a hash is wrong, `cms` does not say that it was cut, or the memory is above its limit. */
const sizeInMiB = Number(process.argv[2] ?? 1_024);
const size = sizeInMiB * 1024 ** 2;
const memoryLimitInMiB = 200;
const program = join(import.meta.dirname, '../packages/cms/bin/cms.js');
const folder = mkdtempSync(join(tmpdir(), 'transfer-'));
let proxy: CuttingProxy | undefined;
const stack = await startStack({
  port: 0,
  simulator: false,
  dataDirectory: join(folder, 'state'),
  intercept: async (endpoints) => {
    proxy = await startCuttingProxy(endpoints.s3);
    return { ...endpoints, s3: proxy.endpoint };
  },
});
try {
  await measure();
} finally {
  await stack.stop();
  proxy?.stop();
  rmSync(folder, { recursive: true });
}
process.exit();

async function measure(): Promise<void> {
  const [file, copy] = [join(folder, 'large.bin'), join(folder, 'copy.bin')];
  await writeRandom(file);
  const checksum = await hashOf(file);
  await cms('login', '--local');
  proxy?.cutAfter(size / 2, 'up');
  const upload = await cms('asset', 'upload', file);
  const [, id = ''] = / as ([0-9a-f-]{36})\n/.exec(upload.stdout) ?? [];
  proxy?.cutAfter(size / 2, 'down');
  const download = await cms('asset', 'download', id, '--output', copy);
  const rows = [
    { way: 'upload', ...figures(upload), 'right hash': upload.stdout.includes(checksum) },
    { way: 'download', ...figures(download), 'right hash': (await hashOf(copy)) === checksum },
  ];
  console.log(`\n${sizeInMiB} MiB with cms, cut off once in the middle\n`);
  printTable(rows);
  const isGood = (row: (typeof rows)[number]) =>
    row['right hash'] && row['said that it was cut'] && row['peak MiB'] <= memoryLimitInMiB;
  if (!rows.every(isGood)) process.exitCode = 1;
}

interface Ran {
  seconds: number;
  peakInMiB: number;
  stdout: string;
  stderr: string;
}

function figures({ seconds, peakInMiB, stderr }: Ran) {
  return {
    seconds: Math.round(seconds * 10) / 10,
    'peak MiB': Math.round(peakInMiB),
    'said that it was cut': stderr.includes('cut off'),
  };
}

async function cms(...args: string[]): Promise<Ran> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, [program, ...args], {
    env: { PATH: process.env['PATH'], HOME: folder, CMS_SERVER: stack.baseUrl },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let peakInMiB = 0;
  const timer = setInterval(() => (peakInMiB = peakOf(child.pid ?? 0) ?? peakInMiB), 100);
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve));
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), exited]);
  clearInterval(timer);
  process.stderr.write(stderr);
  if (code !== 0) throw new Error(`cms ${args.join(' ')} ended with ${code}: ${stderr}`);
  return { seconds: (performance.now() - startedAt) / 1_000, peakInMiB, stdout, stderr };
}

/** Reads the most memory that a process has had, on Linux. Undefined if it has ended. */
function peakOf(pid: number): number | undefined {
  try {
    const [, kibibytes] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return kibibytes === undefined ? undefined : Number(kibibytes) / 1024;
  } catch {
    return undefined;
  }
}

async function writeRandom(file: string): Promise<void> {
  const handle = await open(file, 'w');
  for (let left = size; left > 0; left -= 2 ** 24) await handle.write(randomBytes(Math.min(left, 2 ** 24)));
  await handle.close();
}

async function hashOf(file: string): Promise<string> {
  const hash = createHash('sha3-256');
  for await (const chunk of createReadStream(file, { highWaterMark: 1024 * 1024 })) hash.update(chunk as Buffer);
  return hash.digest('hex');
}
