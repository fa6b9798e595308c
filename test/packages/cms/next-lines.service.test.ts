import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Item } from 'computation-management-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Stack, startStack } from '../../../local/stack.ts';
import type { Terminal } from '../../../packages/cms/terminal/terminal.ts';
import { untilTestEnds } from '../../support/patience.ts';
import { cmsIn, type Ran } from './fake-terminal.ts';
import { type Call, callsThatNameNext, filesBelow, linesAtWork } from './next-lines.ts';

const folder = mkdtempSync(join(tmpdir(), 'cms-next-'));
const work = join(folder, 'work');
let stack: Stack;

/** The lines of the sources that were at work when a command to type next was printed or made. */
const seen = new Set<string>();

/** Returns the words of a command line, as a shell does with its quotes. */
const wordsOf = (line: string) =>
  Array.from(line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g), ([, one, two, three]) => one ?? two ?? three ?? '');

/** Types a command line as a user. */
async function typed(who: string, line: string, given: Partial<Terminal> = {}): Promise<Ran> {
  let stderr = '';
  const err = (text: string) => {
    stderr += text;
    if (text.includes('Next: ')) for (const line of linesAtWork()) seen.add(line);
  };
  const env = { CMS_SERVER: stack.baseUrl, ...given.env };
  const ran = await cmsIn(join(folder, who), { userName: who, err, ...given, env })(...wordsOf(line));
  return { ...ran, stderr };
}

/** Returns the commands that a command names to type next. */
function nextsOf({ stderr }: Ran): string[] {
  const [, lines = ''] = /^Next: (.*\n(?: {6}\S.*\n)*)/m.exec(stderr) ?? [];
  return lines.split('\n').flatMap((line) => line.trim() || []);
}

async function did(who: string, line: string, given?: Partial<Terminal>): Promise<Ran> {
  const ran = await typed(who, line, given);
  if (ran.exitCode !== 0) throw new Error(`cms ${line}\n${ran.stdout}${ran.stderr}`);
  return ran;
}

const made = async (who: string, line: string) => (JSON.parse((await did(who, `${line} --json`)).stdout) as { id: string }).id;

interface Followed {
  /** The words in place of the placeholders of the commands. */
  fill?: Record<string, string>;
  /** The beginning of commands that are not typed, because another test does. */
  upTo?: string;
}

/** Returns the exit codes with which a command succeeds: some say how a computation is, or a run, or that Ctrl-C ended the command. */
const successes = (line: string) => [0, { 'cms check': 7, 'cms watch': 11, 'cms broker': 130 }[line.split(' ', 2).join(' ')]];

/**
 * Types a command, then the commands that it names to type next, and those that they name, until none is named, on a terminal at which
 * somebody answers yes. Each must succeed, change no file that is there, and not be one that was typed before.
 * @returns the commands that were named, in their order
 */
async function follow(who: string, line: string, { fill = {}, upTo }: Followed = {}): Promise<string[]> {
  const named: string[] = [];
  const before = [`cms ${line}`];
  const first = await typed(who, line);
  expect(successes(before[0] ?? ''), `${line}\n${first.stderr}`).toContain(first.exitCode);
  const waiting = nextsOf(first);
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    named.push(next);
    if (upTo !== undefined && next.startsWith(upTo)) continue;
    const filled = next.replace(/(?<![-\w./])[A-Z]{3,}\b(?!\/)/g, (word) => fill[word] ?? word);
    expect(before).not.toContain(filled);
    before.push(filled);
    const files = filesBelow(work);
    const ask = (question: string) => Promise.resolve(question.includes('copy of the key') ? '' : 'y');
    const signal = filled.startsWith('cms broker') ? AbortSignal.timeout(200) : new AbortController().signal; // works until Ctrl-C
    const ran = await typed(who, filled.replace(/^cms /, ''), { ask, signal });
    expect(successes(filled), `${filled}\n${ran.stderr}`).toContain(ran.exitCode);
    const now = filesBelow(work);
    for (const [name, content] of files) {
      if (name.endsWith('.enc') || name.endsWith('/events.json')) continue; // encrypted with the same key again; events are added
      expect([filled, name, now.get(name)]).toEqual([filled, name, content]);
    }
    waiting.push(...nextsOf(ran));
  }
  return named;
}

/** Makes a computation of alice that can be run. @returns its identifier */
async function ready(name: string, options = ''): Promise<string> {
  const id = await made('alice', `computation create "${name}" ${options}`);
  await did('alice', `key upload alice.key.pub ${id}`);
  await did('alice', `asset link program.py ${id}`);
  return id;
}

/** A command with identifiers in place of `ID`. */
const command = (text: string) => expect.stringMatching(new RegExp(`^cms ${text.replaceAll('ID', '[0-9a-f-]{36}')}$`)) as string;
const proof = [command('run --cvm sim-1 --watch'), command('evidence'), command('verify evidence(-ID)?')];

beforeAll(async () => {
  mkdirSync(work);
  process.chdir(work);
  for (const name of [
    'program.py',
    'more.py',
    'third.py',
    'sample.csv',
    'penguins.csv',
    'secret.csv',
    'sent.csv',
    'declared.csv',
  ])
    writeFileSync(name, name);
  writeFileSync('policy.yaml', `platforms: [snp]\nmeasurements: ['${'ab'.repeat(48)}']\n`);
  stack = await startStack({ port: 0, simulator: true });
  for (const who of ['alice', 'bob', 'rita']) {
    await did(who, 'login --local');
    await did(who, `key create ${who}.key`);
  }
  await did('alice', 'asset upload program.py --type algorithm');
});
afterAll(async () => {
  await stack.stop();
  rmSync(folder, { recursive: true });
});

describe('the command to type next after a command that succeeded', () => {
  it('begins a list, fills a computation, and drops what overrides a choice', async () => {
    await did('alice', 'login --local --domain d2 --profile other');
    expect(await follow('alice', 'computation list --profile other', { fill: { NAME: 'First', FILE: 'more.py' } })).toEqual([
      'cms computation create NAME --profile other',
      command('asset upload FILE --type algorithm --computation ID --profile other'),
    ]);
    const [one, two] = [await made('alice', 'computation create One'), await made('alice', 'computation create Two')];
    const chosen = await did('alice', `computation use ${two}`, { env: { CMS_COMPUTATION: one } });
    expect(nextsOf(chosen)).toEqual(['unset CMS_COMPUTATION']);
    expect((await did('alice', 'computation show')).stdout).toContain(two);
    const loggedIn = await did('alice', 'login --local', { env: { CMS_TOKEN: await stack.token('bob', ['d1:administrator']) } });
    expect(nextsOf(loggedIn)).toEqual(['env -u CMS_TOKEN cms whoami']);
    expect((await did('alice', 'whoami')).stdout).toContain('alice');
    expect(await follow('alice', 'find nowhere')).toEqual(['cms computation list']);
  });

  it('brings files that are uploaded, declared, fetched or encrypted', async () => {
    const id = await ready('Files', '--attestation-policy policy.yaml');
    const fill = { COMPUTATION: id, SAMPLE: 'sample.csv' };
    const linked = [command('asset link ID COMPUTATION'), command('check ID')];
    expect(await follow('bob', 'asset upload penguins.csv --type dataset', { fill })).toEqual(linked);
    expect(await follow('bob', 'asset declare declared.csv --type dataset', { fill })).toEqual([
      command('asset upload SAMPLE --asset ID'),
      'cms todo',
    ]);
    const fetched = `asset add https://example.com/far.csv --checksum ${'ab'.repeat(32)} --type dataset`;
    expect(await follow('bob', fetched, { fill })).toEqual(linked);
    expect(await follow('bob', 'encrypt secret.csv --key other.key --output other.enc', { fill })).toEqual([
      'cms asset add --encrypt secret.csv --key other.key --output other.enc --key-held party --type dataset --computation COMPUTATION',
      'cms broker',
    ]);
    expect(filesBelow(work)).not.toContain('secret.csv.key');
    const encrypted = 'asset add --encrypt sent.csv --type dataset --key-held party --release-policy policy.yaml';
    expect(await follow('bob', encrypted, { fill })).toEqual([linked[0], 'cms broker', linked[1]]);
    expect(await follow('alice', `asset unlink program.py ${id}`)).toEqual(['cms check']);
    // Whoever brought them has not chosen who may use them.
    const { items } = JSON.parse((await did('bob', 'asset list --all --json')).stdout) as { items: Item<'listAssets'>[] };
    const uses = items.map(({ asset_type, use }) => `${asset_type} ${use}`);
    expect(new Set(uses)).toEqual(new Set(['dataset approval', 'algorithm open']));
  });

  it('gives a new key to the file of the collaboration if there is one, else to what waits for it', async () => {
    await made('alice', 'computation create Guests --consumer rita');
    await expect.poll(async () => (await did('rita', 'todo')).stdout, untilTestEnds).toContain('Guests');
    expect(await follow('rita', 'status')).toEqual(['cms todo']);
    expect(await follow('rita', 'key create new.key')).toEqual(['cms key add new.key.pub', 'cms todo']);
    const id = await ready('Keys');
    expect(await follow('bob', `key show ${id}`, { fill: { KEYFILE: 'bob.key' } })).toEqual([
      command('key upload KEYFILE.pub ID'),
    ]);
    const parties = '{ alice: { key: newer.key.pub, assets: [{ type: algorithm, file: third.py }] } }';
    writeFileSync('collaboration.yaml', `computation: { name: Planned, owner: alice }\nparties: ${parties}\n`);
    expect(await follow('alice', 'key create newer.key', { upTo: 'cms run' })).toEqual(['cms init collaboration.yaml', proof[0]]);
    const policy = `{ platforms: [snp], measurements: ["${'ab'.repeat(48)}"] }`;
    const computation = `{ name: Planned, owner: alice, attestation_policy: ${policy} }`;
    writeFileSync('attested.yaml', `computation: ${computation}\nparties: ${parties}\n`);
    const registered = { fill: { CVM: 'cvm-1' } };
    expect(await follow('alice', 'init attested.yaml --yes', registered)).toEqual(['cms cvm register CVM']);
    expect(await follow('alice', 'check', { fill: { CVM: 'cvm-2' } })).toEqual(['cms cvm register CVM']);
  });

  it('leads from an approval to a run and its proof', async () => {
    const id = await ready('Proven', '--approval all_signed');
    expect(await follow('alice', `approve ${id} --sign alice.key --yes`)).toEqual(['cms check', ...proof]);
    expect(await follow('alice', `run ${id} --cvm sim-slow-1`, { upTo: 'cms watch' })).toEqual(['cms watch']);
    expect(await follow('alice', `stop ${id}`)).toEqual(['cms watch', command('events --run ID')]);
    // The owner changes the computation while the question is read: the approval is of what was shown.
    const ask = async () => {
      await did('alice', `computation update ${id} --description Other`);
      return 'y';
    };
    const changed = await typed('alice', `approve ${id} --sign alice.key`, { ask });
    expect(changed.stderr).toMatch(/has another digest now\. Read both again\.\nNext: cms check \S{36}\n$/);
  });

  it('leads to the approvals if they are for different CVMs, and to a CVM that they allow', async () => {
    const id = await ready('Elsewhere', '--approval all --consumer bob');
    await did('bob', `key upload bob.key.pub ${id}`);
    await did('alice', `approve ${id} --cvm sim-1 --yes`);
    await did('bob', `approve ${id} --cvm sim-2 --yes`);
    expect(await follow('alice', `check ${id}`)).toEqual(['cms approvals']);
    const again = await did('bob', `approve ${id} --runs 1 --yes`);
    expect(again.stderr).toContain('Your last approval was only on sim-2. This one is only for one run.\n');
    const kept = await did('bob', `approve ${id} --cvm sim-1 --yes`);
    expect(kept.stderr).toContain('Your last approval was only for one run. This one is only on sim-1.\n');
    expect((await did('bob', `approve ${id} --cvm sim-1 --yes`)).stderr).not.toContain('Your last approval');
    expect(await follow('alice', `check ${id}`, { upTo: 'cms run' })).toEqual([proof[0]]);
  });

  it('leads from a review to the release and its proof', async () => {
    const id = await ready('Reviewed', '--reviewer rita --consumer bob');
    for (const who of ['bob', 'rita']) await did(who, `key upload ${who}.key.pub ${id}`);
    expect(await follow('alice', `run ${id} --cvm sim-1`)).toEqual(['cms watch', ...proof.slice(1)]); // beside other evidence
    expect(await follow('rita', `review ${id} --file sample.csv --key rita.key`)).toEqual([
      command('review ID --run ID --file sample.csv --key rita.key --release'),
      command('evidence ID --verify'),
    ]);
    expect(await follow('bob', `result ${id}`)).toEqual([command('evidence ID --run ID --verify')]);
  });
});

describe('every command to type next after a command that succeeded', () => {
  it('was typed here', () => {
    const calls = callsThatNameNext();
    const printed = calls.filter(({ first }) => first > 0);
    const isSeen = ({ file, first, last }: Call) =>
      Array.from({ length: last - first + 1 }, (_, index) => `${file}:${first + index}`).some((line) => seen.has(line));
    expect(printed.filter((call) => !isSeen(call))).toEqual([]);
    expect(printed.length).toBeGreaterThan(20);
    expect(calls.length - printed.length).toBe(2); // those of nextRun, to a run and to approvals for different CVMs
  });
});
