import assert from 'node:assert/strict';
import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import {
  addSignatures,
  checkpointText,
  consistencyProof,
  formatProof,
  inclusionProof,
  openNote,
  rootOf,
  type Tree,
  vkeyOf,
} from 'computation-management-transparency-log';
import { toBase64, toHex } from 'computation-management-formats/bytes';
import { seededRandom } from '../../support/seeded-random.ts';
import { newTestLog } from '../verify/test-log.ts';
import { entryAt, makeLog, type MemoryLog } from './memory-log.ts';

/**
 * `npm run rehearse:log`: compares the trees and the proofs of the package with those of Go's `sumdb/tlog`, lets the reader of torchwood read a
 * log and its proofs, and lets an unmodified witness, torchwood's `litewitness`, cosign honest growth and refuse a fork and a rollback. Needs Go,
 * its module proxy, and `ssh-agent`.
 */
const modules = ['filippo.io/torchwood@v0.7.0', 'filippo.io/torchwood/cmd/litewitness@v0.7.0', 'golang.org/x/mod@v0.29.0'];
const most = 1_000_000;
const samples = 200;

const folder = mkdtempSync(join(tmpdir(), 'foreign-log-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const go = (...args: string[]) => execFileSync('go', args, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
const foreign = join(folder, 'foreign');
const run = promisify(execFile);

copyFileSync(join(import.meta.dirname, 'foreign.go'), join(folder, 'foreign.go'));
go('mod', 'init', 'foreign');
go('get', ...modules);
go('build', '-o', foreign, 'foreign.go');
go('build', '-o', join(folder, 'litewitness'), 'filippo.io/torchwood/cmd/litewitness');
await compareTrees();
await letOthersRead();
await letWitnessSign();

async function compareTrees(): Promise<void> {
  const log = await makeLog([most]);
  const random = seededRandom(1);
  const below = (end: number) => Math.floor(random() * end);
  const sizes = [
    ...Array.from({ length: 300 }, (_, at) => at + 1),
    ...Array.from({ length: samples }, () => 1 + below(most)),
    most,
  ];
  const asked = sizes.map((size) => ({ size, index: below(size), from: below(size + 1) }));
  const child = run(foreign, ['tree', String(most)], { maxBuffer: 1e9 });
  child.child.stdin?.end(asked.map(({ size, index, from }) => `${size} ${index} ${from}\n`).join(''));
  const answers = (await child).stdout.trimEnd().split('\n');
  const readTile = wholeTiles(log);
  for (const [at, { size, index, from }] of asked.entries()) {
    const inclusion = await inclusionProof(index, size, readTile);
    const consistency = from === size ? [] : await consistencyProof(from, size, readTile);
    const own = [[await rootOf(size, readTile)], inclusion, consistency].map((hashes) => hashes.map(toHex).join(','));
    assert.equal(own.join(' '), answers[at], `The size ${size}, index ${index}, from ${from}`);
  }
  console.log(`${sizes.length} sizes up to ${most}: all roots, inclusion and consistency proofs equal those of Go's sumdb/tlog.`);
}

/** Reads tiles of any earlier size: a partial tile is the beginning of the later one. */
function wholeTiles({ tiles }: MemoryLog) {
  const widest = new Map([...tiles].map(([path, bytes]) => [path.replace(/\.p\/\d+$/, ''), bytes]));
  return async (path: string) => widest.get(path.replace(/\.p\/\d+$/, ''));
}

async function letOthersRead(): Promise<void> {
  const log = await makeLog([600]);
  const { origin, vkey, noteOf } = newTestLog('log.example/rehearsal');
  const checkpoint = noteOf(checkpointText({ origin, ...log }));
  const server = createServer((request, response) => {
    const path = (request.url ?? '').slice(1);
    const index = /^proof\/(\d+)$/.exec(path)?.[1];
    void (async () => {
      const proof =
        index === undefined
          ? undefined
          : formatProof({
              index: Number(index),
              hashes: await inclusionProof(Number(index), log.size, log.readTile),
              checkpoint,
            });
      const found = proof ?? (path === 'checkpoint' ? checkpoint : log.tiles.get(path));
      response.writeHead(found ? 200 : 404).end(found);
    })();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { stdout } = await run(foreign, ['read', `http://127.0.0.1:${(server.address() as AddressInfo).port}`, vkey]);
  server.closeAllConnections();
  server.close();
  assert.equal(stdout, '600 entries read, and as many proofs verified\n');
  console.log(`torchwood: ${stdout.trimEnd()}.`);
}

async function letWitnessSign(): Promise<void> {
  const { origin, vkey, noteOf } = newTestLog('log.example/rehearsal');
  const [database, socket, key] = ['witness.db', 'agent.sock', 'witness-key'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', '', '-f', key]);
  const agent = spawn('ssh-agent', ['-D', '-a', socket], { stdio: 'ignore' });
  const listen = '127.0.0.1:17380';
  const fingerprint = /SHA256:\S+/.exec(execFileSync('ssh-keygen', ['-lf', key], { encoding: 'utf8' }))?.[0] ?? '';
  await untilDone(async () => await run('ssh-add', [key], { env: { ...process.env, SSH_AUTH_SOCK: socket } }));
  const args = ['-name', 'witness.example', '-db', database, '-ssh-agent', socket, '-key', fingerprint, '-listen', listen];
  const witness = spawn(join(folder, 'litewitness'), args, { stdio: 'ignore' });
  try {
    const add = async (old: number, proof: Uint8Array[], note: string) => {
      const body = [`old ${old}`, ...proof.map(toBase64), '', note].join('\n');
      const response = await fetch(`http://${listen}/add-checkpoint`, { method: 'POST', body });
      return { status: response.status, text: await response.text() };
    };
    await untilDone(async () => await add(0, [], 'x'));
    const table = new DatabaseSync(database);
    table.prepare('INSERT INTO log VALUES (?, 0, ?)').run(origin, toBase64(await rootOf(0, async () => undefined)));
    table.prepare('INSERT INTO key VALUES (?, ?)').run(origin, vkey);
    table.close();
    const log = await makeLog([1_000, 1_500, 10_000]);
    const fork = await makeLog([800, 1_500, 10_000], (index) => entryAt(index < 900 ? index : index + 1));
    const readTile = wholeTiles(log);
    const [first, later] = [await noteAt(1_000), await noteAt(10_000)];
    async function noteAt(size: number, of: MemoryLog = log) {
      const tree: Tree = { size, root: await rootOf(size, wholeTiles(of)) };
      return noteOf(checkpointText({ origin, ...tree }));
    }
    const growth = await consistencyProof(1_000, 10_000, readTile);
    const signed = await add(0, [], first);
    const public32 = Buffer.from(
      execFileSync('cut', ['-d', ' ', '-f', '2', `${key}.pub`], { encoding: 'utf8' }),
      'base64',
    ).subarray(-32);
    const opened = await openNote(addSignatures(first, signed.text), [vkey, vkeyOf('witness.example', public32, 'cosignature')]);
    const forked = await noteAt(10_000, fork);
    const answers = {
      'a first checkpoint': signed.status,
      'a fork with its own proof': (await add(1_000, await consistencyProof(1_000, 10_000, wholeTiles(fork)), forked)).status,
      'a fork with the true proof': (await add(1_000, growth, forked)).status,
      'honest growth': (await add(1_000, growth, later)).status,
      'a rollback': (await add(10_000, [], first)).status,
      'another tree of the same size': (await add(10_000, [], forked)).status,
    };
    assert.deepEqual(Object.values(answers), [200, 422, 422, 200, 400, 422]);
    assert.equal(opened.signatures.length, 2);
    console.log('litewitness:', answers);
  } finally {
    witness.kill();
    agent.kill();
  }
}

/** Repeats work that fails until a program listens, for up to 10 seconds. */
async function untilDone(work: () => Promise<unknown>): Promise<void> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      await work();
      return;
    } catch (error) {
      if (attempt > 100) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}
