import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { logTag } from 'computation-management-formats/digests';
import type { LoggedAct } from 'computation-management-formats/vocabulary';
import { vkeyOf } from 'computation-management-transparency-log';
import type { Context } from '../../../packages/cms/context/context.ts';
import { type Pin, readPins, replacePin } from '../../../packages/cms/files/seen-logs.ts';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type AnsweringServer, startAnsweringServer } from '../../support/answering-server.ts';
import { genuineEvidence } from '../verify/genuine-evidence.ts';
import { History, type Logged } from '../verify/histories.ts';
import { newTestLog, testLog } from '../verify/test-log.ts';
import { cmsIn } from './fake-terminal.ts';

const { statement, signature, key_id, keys, events, before } = genuineEvidence(1);
const logged = statement as unknown as Logged;
const entry = (byte: number) => new Uint8Array(64).fill(byte);

let server: AnsweringServer;
let home: string;
/** The history that the service shows. */
let shown: History;
/** The evidence that the service gives. */
let log: object;
/** The runs that the service lists. */
let runs: object[];

beforeAll(async () => {
  server = await startAnsweringServer();
  server.answerWith((request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://localhost');
    const part = /^\/log\/(.*)$/.exec(pathname)?.[1];
    if (part !== undefined) {
      const bytes = part === 'checkpoint' ? shown.checkpoint : shown.tiles.get(part);
      response.writeHead(bytes ? 200 : 404).end(bytes);
      return;
    }
    const answers: [RegExp, object][] = [
      [/\/evidence$/, { statement, signature, key_id, log }],
      [/\/run$/, { ...(statement['run'] as object), result: null }],
      [/jwks\.json$/, keys],
      [/\/events$/, { events: [...before, ...events].toReversed(), limit: 100, offset: 0, total: before.length + events.length }],
      [/\/attestation$/, { tokens: [] }],
      [/\/runs$/, { runs, limit: 100, offset: 0, total: runs.length }],
    ];
    const found = answers.find(([path]) => path.test(pathname))?.[1];
    response.writeHead(found ? 200 : 404, { 'content-type': 'application/json' }).end(JSON.stringify(found ?? {}));
  });
});
afterAll(() => server.stop());

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'log-'));
  runs = [];
  shown = new History(testLog);
  await shown.grow([1, 2, 3].map(entry));
  log = await shown.growByRun(logged, 5);
  return () => rmSync(home, { recursive: true });
});

/** Runs commands as a user whose profiles are in a folder. */
function user(folder: string) {
  const token = `e30.${Buffer.from(JSON.stringify({ sub: 'alice' })).toString('base64url')}.c2ln`;
  return cmsIn(folder, { env: { CMS_SERVER: server.endpoint, CMS_DOMAIN: 'd1', CMS_TOKEN: token } });
}
const cms = (...args: string[]) => user(home)(...args);

const evidence = (name = 'evidence', by = home) =>
  user(by)('evidence', logged.computation, '--run', logged.run.id, '--output', join(home, name), '--json');
/** Shows another party another history, in which the run has other places. Returns the evidence that this party saved. */
async function evidenceOfFork(size: number, between: Uint8Array[]): Promise<string> {
  shown = await shown.fork(size);
  log = await shown.growByRun(logged, 9, between);
  await evidence('theirs', join(home, 'other'));
  return join(home, 'theirs/evidence.json');
}
const alarms = () => readdirSync(join(home, '.config/cms')).filter((name) => name.startsWith('log-alarm'));

describe('cms log check', () => {
  it('says that no log was seen before the first evidence, and then that it continues', async () => {
    expect(await cms('log', 'check')).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('Next: cms evidence') });
    expect(await evidence()).toMatchObject({ exitCode: 0 });
    await shown.grow(Array.from({ length: 300 }, (_, at) => entry(at % 200)));
    const { exitCode, stdout, stderr } = await cms('log', 'check');
    expect([exitCode, stdout]).toEqual([
      0,
      `The log ${testLog.origin} continues what was seen of it. It has 305 entries.\nNo second entry of the run that you know is among the 305 that were read.\n`,
    ]);
    expect(stderr).toMatch(/^Compare with the other parties: 305 \S{43}\n$/);
    await shown.grow([entry(7)]);
    expect((await cms('log', 'check')).stdout).toContain('among the 1 that were read');
    shown = new History(newTestLog('log.example/begun-again')); // as `npm start` without --data does
    expect(await cms('log', 'check')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('No log of this service was'),
    });
    expect(alarms()).toEqual([]);
  });

  it('finds a second entry of a run, and saves the checkpoint', async () => {
    await evidence();
    await shown.growByRun({ ...logged, events: { started: { hash: 'a' }, last: { hash: 'b' } } }, 6);
    const { exitCode, stderr } = await cms('log', 'check');
    expect([exitCode, stderr]).toEqual([
      15,
      expect.stringMatching(/^ALARM: The log .* has two entries of [0-9a-f]{64}, .*: 3 and 5\./),
    ]);
    expect(alarms()).toHaveLength(1);
  });

  it('finds a second entry of a run that the user can read, also of its result, although nothing of it was saved here', async () => {
    await evidence();
    runs = [{ id: 'other', computation_id: logged.computation }];
    const entryOf = (type: LoggedAct, byte: number) => {
      const tag = logTag({ type, domain: 'd1', computation: logged.computation, run: 'other' });
      return Uint8Array.of(...tag, ...entry(byte).subarray(32));
    };
    await shown.grow([entryOf('run-start', 1)]);
    expect((await cms('log', 'check')).stdout).toContain('No second entry of the 2 runs that you know is among the 6 ');
    await shown.grow([entryOf('result', 1)]);
    expect(JSON.parse((await cms('log', 'check', '--json')).stdout)).toMatchObject({ runs: 2, entries_read: 1 });
    await shown.grow([entryOf('result', 2)]);
    const { exitCode, stderr } = await cms('log', 'check');
    expect([exitCode, stderr]).toEqual([15, expect.stringMatching(/^ALARM: .* has two entries of .*: 6 and 7\./)]);
  });

  it('looks without a login only for the runs whose evidence was saved, and says so', async () => {
    await evidence();
    const stranger = cmsIn(home, { env: { CMS_SERVER: server.endpoint } });
    expect(await stranger('log', 'check')).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('No second entry of the run that you know is among the 5 '),
      stderr: expect.stringContaining('You are not logged in: only runs whose evidence you saved are looked for.\n'),
    });
  });

  it('compares with the evidence of another party', async () => {
    await evidence();
    const honest = shown;
    expect((await cms('log', 'check', '--with', join(home, 'evidence/evidence.json'))).exitCode).toBe(0);
    const theirs = await evidenceOfFork(2, [4, 4, 4].map(entry));
    shown = honest;
    await honest.grow([1, 2, 3].map(entry));
    expect((await cms('log', 'check', '--with', theirs)).stderr).toMatch(/^ALARM: The log .* shows two histories/);
  });
});

describe('cms evidence', () => {
  it('raises an alarm where the log forks, goes back or hides its tiles, and saves both checkpoints and the evidence', async () => {
    await evidence();
    const [honest, first] = [shown, shown.checkpoint];
    const fork = await honest.fork(4);
    await fork.grow([9, 9, 9].map(entry));
    const hiding = await honest.fork(5);
    await hiding.grow([entry(8)]);
    hiding.tiles.clear();
    for (const [history, message] of [
      [fork, /^\{"error":"ALARM: The log .* shows two histories/],
      [await honest.fork(4), /went back/],
      [hiding, /does not prove that it continues/],
    ] as const) {
      shown = history;
      const count = alarms().length;
      expect(await evidence(`evidence-${count}`)).toMatchObject({ exitCode: 15, stderr: expect.stringMatching(message) });
      expect(alarms()).toHaveLength(count + 1);
      const saved = readFileSync(join(home, '.config/cms', alarms().at(-1) ?? ''), 'utf8');
      expect([saved.includes(first), saved.includes(shown.checkpoint)]).toEqual([true, true]);
      expect(readdirSync(join(home, `evidence-${count}`))).toContain('evidence.json');
    }
  });

  it('raises an alarm where evidence shows a second entry of the run in the one log', async () => {
    await evidence();
    const first = shown.checkpoint;
    log = await shown.growByRun(logged, 6);
    const { exitCode, stderr } = await evidence('second', home);
    expect([exitCode, stderr]).toEqual([15, expect.stringMatching(/ALARM: The log .* has two entries of .*: 3 and 5\./)]);
    const saved = readFileSync(join(home, '.config/cms', alarms().at(-1) ?? ''), 'utf8');
    expect([saved.includes(first), saved.includes(shown.checkpoint)]).toEqual([true, true]);
  });

  it('raises an alarm also with a token alone, on a machine that has kept nothing before', async () => {
    shown = await shown.fork(4);
    const { exitCode, stderr } = await evidence('evidence', join(home, 'new'));
    expect([exitCode, stderr]).toEqual([15, expect.stringMatching(/^\{"error":"ALARM: .*went back/)]);
    expect(readdirSync(join(home, 'new/.config/cms'))).toEqual([expect.stringMatching(/^log-alarm/)]);
  });
});

describe('cms verify', () => {
  it('compares the log with what this machine and other parties have seen, and demands witnesses', async () => {
    await evidence('mine');
    const mine = join(home, 'mine');
    const lines = async (...args: string[]) => (await cms('verify', ...args)).stdout;
    expect(await lines(mine)).toMatch(/^NOTE {11}Compare this state of the log with the other parties: 5 \S{43}\.$/m);
    expect(await lines(mine)).toMatch(/^HOLDS {10}The same state of it is known: 5 /m);
    expect(await lines(mine, '--with', await evidenceOfFork(2, [entry(4)]))).toMatch(
      /^DOES NOT HOLD {2}Two histories: .*known: 5 /m,
    );
    rmSync(join(home, 'theirs'), { recursive: true });
    expect(await lines(mine, '--with', await evidenceOfFork(2, [5, 6].map(entry)))).toMatch(
      /^NOT CHECKED .* only cms log check/m,
    );
    const witness = vkeyOf('witness.example', new Uint8Array(32), 'cosignature');
    expect(await lines(mine, '--witness', witness)).toMatch(/^DOES NOT HOLD {2}.* 0 of the 1 witnesses, but 1 are demanded/m);
    expect((await cms('verify', mine, '--witness', testLog.vkey)).stderr).toContain('Expected the vkey of a witness');
  });
});

describe('replacePin', () => {
  it('replaces nothing that another command has changed meanwhile, also if the checkpoint is the same', async () => {
    const context = { profiles: { file: join(home, 'profiles.json') } } as unknown as Context;
    const pin = { origin: 'log', vkey: 'log+00000000+AA==', checkpoint: 'a', checked: 0, tags: {} };
    const withTag = { ...pin, tags: { aa: 1 } };
    const replace = (before: Pin | undefined, next: Pin) => replacePin(context, 'https://cms.example', before, next);
    expect(await replace(undefined, pin)).toBe(true);
    expect(await replace(pin, withTag)).toBe(true);
    expect(await replace(pin, { ...pin, checked: 5 })).toBe(false);
    expect((await readPins(context)).get('https://cms.example')).toEqual(withTag);
  });
});
