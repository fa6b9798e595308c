import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createProgram } from '../../../packages/cms/run-cms.ts';
import { type Stack, startStack } from '../../../local/stack.ts';
import { untilTestEnds } from '../../support/patience.ts';
import { cmsIn } from './fake-terminal.ts';
import { type Mistake, mistakes } from './mistakes.ts';

const folder = mkdtempSync(join(tmpdir(), 'cms-mistakes-'));
const work = join(folder, 'work');
let stack: Stack;
let as: Record<Mistake['who'], ReturnType<typeof cmsIn>>;

const policy = (measurement: string) => `platforms: [snp]\nmeasurements: ['${measurement}']\n`;
const files = {
  'penguin-sizes.py': 'print(1)\n',
  'second.py': 'print(2)\n',
  'penguins.csv': 'mass\n1\n',
  'collaboration.yaml': 'computation: { name: Penguins, owner: alice }\nparties: { alice: {}, bob: {} }\n',
  'broken.yaml': 'computation: [\n',
  'unknown.yaml': 'computation: { name: A, owner: alice, colour: red }\nparties: { alice: {} }\n',
  'platform.yaml': `platforms: [sev]\nmeasurements: ['${'ab'.repeat(48)}']\n`,
  'lacking.yaml': `measurements: ['${'ab'.repeat(48)}']\n`,
  'other.yaml': policy('cd'.repeat(48)),
};

/** Returns the words of a command line, as a shell does with its quotes. */
const wordsOf = (line: string) =>
  Array.from(line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g), ([, one, two, three]) => one ?? two ?? three ?? '');

async function did(who: Mistake['who'], line: string) {
  const ran = await as[who](...wordsOf(line));
  if (ran.exitCode !== 0) throw new Error(`cms ${line}\n${ran.stdout}${ran.stderr}`);
  return ran.stdout;
}

beforeAll(async () => {
  mkdirSync(work);
  process.chdir(work);
  for (const [name, text] of Object.entries(files)) writeFileSync(name, text);
  stack = await startStack({ port: 0, simulator: true, testEvidence: true, cvmGateway: { port: 0 } });
  const user = (userName: string) => cmsIn(join(folder, userName), { env: { CMS_SERVER: stack.baseUrl }, userName });
  as = { alice: user('alice'), bob: user('bob'), carol: user('carol') };
  await did('alice', 'login --local');
  await did('bob', 'login --local --role dataset_provider');
  await did('carol', 'login --local --role viewer');
  for (const who of ['alice', 'bob'] as const) await did(who, `key create ${who}.key`);
  await did('alice', 'asset upload penguin-sizes.py second.py --type algorithm');
  for (const [name, options] of [
    ['Open', ''],
    ['Twin', ''],
    ['Twin', ''],
    ['Attested', '--attestation-policy other.yaml'],
    ['Study', '--approval all_signed --consumer alice'],
  ]) {
    const { id } = JSON.parse(await did('alice', `computation create ${name} ${options} --json`)) as { id: string };
    if (name === 'Twin') continue;
    await did('alice', `key upload alice.key.pub ${id}`);
    await did('alice', `asset link penguin-sizes.py ${id}`);
    if (name !== 'Study') continue;
    await did('bob', `key upload bob.key.pub ${id}`);
    await did('bob', `asset upload penguins.csv --type dataset --computation ${id}`);
  }
  for (const cvm of ['sim-attested-1', 'plain-1']) await did('alice', `cvm register ${cvm}`);
  const isVerified = async () => expect(await did('alice', 'cvm show sim-attested-1')).toMatch(/Attestation +verified/);
  await vi.waitFor(isVerified, { ...untilTestEnds, timeout: 60_000 });
});
afterAll(async () => {
  await stack.stop();
  rmSync(folder, { recursive: true });
});

const whole = mistakes.filter(({ why }) => why);
const nexts = new Map<string, Pick<Mistake, 'who' | 'line'>>();
/** Returns the command in a line to type next, without the file to which it prints. */
const commandIn = (next: string) => next.replace(/ > \S+$/, '');
const isWhole = (next: string) => /^cms (?!.*(?:--help$|\b[A-Z]{2,}\b))/.test(next);

describe('a mistake', () => {
  it(`of ${mistakes.length} is told with its reason in at least 57`, () => {
    expect(whole.length).toBeGreaterThanOrEqual(57);
  });

  it.each(mistakes)('of $who: cms $line', async ({ who, line, what, why, next }) => {
    const { stdout, stderr } = await as[who](...wordsOf(line));
    const said = `${stdout}${stderr}`;
    expect(said).toMatch(what);
    if (why) expect(said).toMatch(why);
    expect(said).not.toMatch(/Invalid key|Unexpected token|undefined|\.0: /);
    const [, typed = ''] = /^Next: (.*)$/m.exec(stderr) ?? [];
    expect(typed, said).toMatch(next);
    const isOnMachines = /--attestation-policy|Attested|never-seen|--policy/.test(line);
    expect(said.includes('Help: docs/machines.md\n'), said).toBe(isOnMachines);
    nexts.set(typed, { who, line });
  });

  it('leads to a command that parses, replaces no file, and is not the one that was typed', async () => {
    expect(nexts.size).toBeGreaterThan(30);
    for (const [next, { line }] of nexts) {
      const [, file] = / > (\S+)$/.exec(next) ?? [];
      expect([next, next === `cms ${line}`]).toEqual([next, false]);
      expect([next, file !== undefined && existsSync(file)]).toEqual([next, false]);
      const [program = '', ...words] = wordsOf(commandIn(next));
      if (program !== 'cms') {
        expect(program).toBe('ls');
        continue;
      }
      const parsed = createProgram('0.1.0', () => () => Promise.resolve());
      const quiet = (each: typeof parsed) => {
        each.exitOverride().configureOutput({ writeOut: () => undefined, writeErr: () => undefined });
        each.commands.forEach(quiet);
      };
      quiet(parsed);
      const error: unknown = await parsed.parseAsync(words, { from: 'user' }).catch((error: unknown) => error);
      expect([next, error === parsed || (error as { exitCode?: number }).exitCode === 0]).toEqual([next, true]);
    }
  });
});

describe('keys and policies made by cms', () => {
  it('are read by cms: the private key by nobody else, and a policy of a verified machine is satisfied by it', async () => {
    expect(statSync('bob.key').mode & 0o777).toBe(0o600);
    const list = await did('alice', 'cvm list');
    for (const row of [/^plain-1 .* none /m, /^sim-attested-1 .* verified /m]) expect(list).toMatch(row);
    const made = await did('alice', 'cvm show sim-attested-1 --policy');
    writeFileSync('made.yaml', made);
    await did('alice', 'computation update Attested --attestation-policy made.yaml');
    expect((await as.alice('check', 'Attested')).stderr).toMatch(/Next: cms run .*--cvm sim-attested-1 --watch/);
  });
});

describe('consent', () => {
  it('is signed into a copy that nobody else reads, told when a receiver is replaced, and can be refused with a reason', async () => {
    const approved = await did('bob', 'approve Study --sign bob.key --yes');
    const [, copy = ''] = /^Your signed copy is ~\/(.*)\.$/m.exec(approved) ?? [];
    expect(statSync(join(folder, 'bob', copy)).mode & 0o777).toBe(0o600);
    await did('alice', 'computation update Study --consumer carol');
    await as.carol('login', '--local', '--role', 'result_consumer');
    await did('alice', 'key create carol.key');
    await did('carol', 'key upload carol.key.pub Study');
    const { stdout } = await as.bob('check', 'Study');
    expect(stdout).toMatch(/This allows +alice's penguin-sizes\.py reads your penguins\.csv on any machine; /);
    expect(stdout).toContain('  - alice lets carol receive the results [weaker]');
    await did('bob', 'refuse Study --reason "Not for carol."');
    expect((await as.alice('check', 'Study')).stdout).toContain('bob refuses: Not for carol.');
    await expect.poll(() => did('alice', 'todo'), untilTestEnds).toContain('Refusal of bob to approve Study');
    expect(await did('alice', 'approvals Study')).toContain('Refusal of bob: "Not for carol."');
  });
});

describe('the command after a mistake', () => {
  it('is no usage error when it is typed, and does not lead to itself', async () => {
    const typed = [...nexts].filter(([next]) => isWhole(next));
    expect(typed.length).toBeGreaterThan(15);
    const bad: string[] = [];
    for (const [next, { who, line }] of typed) {
      const { exitCode, stderr } = await as[who](...wordsOf(commandIn(next)).slice(1));
      const [, after] = /^Next: (.*)$/m.exec(stderr) ?? [];
      const isAsked = stderr.includes('Cannot ask for confirmation'); // as on a terminal
      if ((exitCode === 2 && !isAsked) || after === next) bad.push(`cms ${line}: ${next} ends with ${exitCode}: ${stderr}`);
    }
    expect(bad).toEqual([]);
  });
});
