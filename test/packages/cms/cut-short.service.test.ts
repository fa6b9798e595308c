import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseProof } from 'computation-management-transparency-log';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type Answer, type AnsweringServer, startAnsweringServer } from '../../support/answering-server.ts';
import { logOf, testLog } from '../verify/test-log.ts';
import { withoutChanging, cmsIn } from './fake-terminal.ts';

const folder = mkdtempSync(join(tmpdir(), 'cms-'));
const home = process.cwd();
const id = '00000000-0000-8000-8000-000000000001';
let server: AnsweringServer;

beforeAll(async () => {
  server = await startAnsweringServer();
  process.chdir(folder);
});
afterAll(async () => {
  process.chdir(home);
  await server.stop();
  rmSync(folder, { recursive: true });
});

const json =
  (body: unknown, status = 200): Answer =>
  (_, response) =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));

/** Runs a command against a service that answers by method and path, after the domain. */
async function cms(answers: Record<string, Answer>, args: string[], signal = new AbortController().signal) {
  server.answerWith((request, response) => {
    const path = request.url?.replace(/^\/d1/, '').replace(/\?.*/, '') ?? '';
    answers[`${request.method} ${path}`]?.(request, response);
  });
  const token = `e30.${Buffer.from(JSON.stringify({ sub: 'alice' })).toString('base64url')}.c2ln`;
  const env = { CMS_SERVER: server.endpoint, CMS_DOMAIN: 'd1', CMS_TOKEN: token };
  return withoutChanging(await cmsIn(folder, { env, signal })(...args));
}

const computation = { [`GET /computations/${id}`]: json({ id, name: 'Incomes' }) };
const internal = json({ code: 'internal', detail: 'It broke.' }, 500);

describe('Ctrl-C', () => {
  it.each([
    ['watch', ['watch', id, '--run', 'r1'], {}, 'run', ' --run r1'],
    ['run --watch', ['run', id, '--cvm', 'sim-1', '--watch'], { [`POST /computations/${id}/run`]: json('r1') }, 'run', ''],
    ['stop --watch', ['stop', id, '--watch'], { [`POST /computations/${id}/stop`]: json({ id: 'r1' }) }, 'stop', ''],
  ])('during the first read of cms %s leaves the run, and prints how to go on', async (_, args, answers, goesOn, option) => {
    const ending = new AbortController();
    const run = { [`GET /computations/${id}/run`]: () => ending.abort() };
    const { exitCode, stderr } = await cms({ ...computation, ...answers, ...run }, args, ending.signal);
    expect(exitCode).toBe(130);
    expect(stderr).toMatch(new RegExp(`You stopped watching\\. The ${goesOn} goes on\\.\\nNext: cms watch ${id}${option}\\n$`));
  });

  it('before cms run has its answer leads to the runs, for one may have started', async () => {
    const ending = new AbortController();
    const start = { [`POST /computations/${id}/run`]: () => ending.abort() };
    expect(await cms({ ...computation, ...start }, ['run', id, '--cvm', 'sim-1'], ending.signal)).toEqual({
      exitCode: 130,
      stdout: '',
      stderr: `Interrupted. The run may have started.\nNext: cms runs ${id}\n`,
    });
  });
});

describe('a service that fails', () => {
  it('leads to the list of what the command perhaps made, and not to the same command', async () => {
    const created = await cms({ 'POST /computations': internal }, ['computation', 'create', 'Incomes']);
    expect(created).toMatchObject({ exitCode: 1, stderr: 'It broke.\nNext: cms computation list\n' });
    const started = await cms({ ...computation, [`POST /computations/${id}/run`]: internal }, ['run', id, '--cvm', 'sim-1']);
    expect(started).toMatchObject({ exitCode: 1, stderr: `It broke.\nNext: cms runs ${id}\n` });
  });

  it('is waited for once a run has started, and an error then names the run and the command that watches it', async () => {
    const busy = json({ code: 'unavailable', detail: 'Busy.' }, 503);
    const page: Answer = (_, response) => void response.writeHead(403).end('Blocked by the network');
    const reads = [busy, busy, busy, busy, busy, page];
    const read: Answer = (request, response) => reads.shift()?.(request, response);
    const started = { [`POST /computations/${id}/run`]: json('r1'), [`GET /computations/${id}/run`]: read };
    const { stdout, stderr } = await cms({ ...computation, ...started }, ['run', id, '--cvm', 'sim-1', '--watch', '--json']);
    expect([stdout, reads]).toEqual(['', []]);
    const [note = '', error = ''] = stderr.split('\n');
    expect(JSON.parse(note)).toEqual({ note: 'Busy. Trying again.' });
    expect(JSON.parse(error)).toMatchObject({ exit_code: 1, run_id: 'r1', next: `cms watch ${id} --run r1` });
  });
});

describe('a service that is slow', () => {
  it('is told after eight seconds, with --json too', async () => {
    const slow: Answer = (request, response) =>
      void setTimeout(() => json({ id, name: 'Incomes' })(request, response), 8_500).unref();
    const withdrawn = { [`DELETE /computations/${id}/approvals`]: json({}, 204) };
    const slowLog: Answer = (request, response) =>
      void setTimeout(() => json({ logs: [], next: '' })(request, response), 8_500).unref();
    const answers = { [`GET /computations/${id}`]: slow, [`GET /computations/${id}/logs`]: slowLog, ...withdrawn };
    const [text, lines, log] = await Promise.all([
      cms(answers, ['withdraw', id, '--yes']),
      cms(answers, ['withdraw', id, '--yes', '--json']),
      cms(answers, ['logs', id]),
    ]);
    expect(log.stderr).toContain('The service takes long to answer.\nThe service answers again.\n');
    expect(text).toMatchObject({ exitCode: 0, stderr: 'The service takes long to answer.\nThe service answers again.\n' });
    expect(lines).toMatchObject({
      exitCode: 0,
      stderr: '{"note":"The service takes long to answer."}\n{"note":"The service answers again."}\n',
    });
  });
});

describe('cms asset download', () => {
  const content = 'a\n1\n';
  const asset = {
    id,
    file_name: 'penguins.csv',
    created_by: 'bob',
    state: 'ready',
    size: content.length,
    checksum: createHash('sha3-256').update(content).digest('hex'),
  };

  it('keeps a file of the user beside it that ends in .part, and one that was made meanwhile', async () => {
    mkdirSync('empty');
    process.chdir('empty');
    onTestFinished(() => process.chdir(folder));
    writeFileSync('penguins.csv.part', 'mine');
    const download = { method: 'GET', url: `${server.endpoint}/d1/content`, headers: {}, expires_at: '' };
    const answers = (send: Answer) => ({
      [`GET /assets/${id}`]: json({ ...asset, download }),
      'GET /assets': json({ assets: [asset], limit: 100, offset: 0, total: 1 }),
      'GET /content': send,
    });
    const send: Answer = (_, response) => void response.writeHead(206).end(content);
    const racing: Answer = (request, response) => {
      writeFileSync('penguins.csv', 'also mine');
      send(request, response);
    };
    expect(await cms(answers(racing), ['asset', 'download', id])).toEqual({
      exitCode: 2,
      stdout: '',
      stderr: `There is a file penguins.csv here already.\nNext: cms asset download ${id} --output FILE\n`,
    });
    expect(readFileSync('penguins.csv', 'utf8')).toBe('also mine');
    rmSync('penguins.csv');
    expect(await cms(answers(send), ['asset', 'download', id])).toMatchObject({ exitCode: 0 });
    expect(readFileSync('penguins.csv', 'utf8')).toBe(content);
    expect(readFileSync('penguins.csv.part', 'utf8')).toBe('mine');
    expect(readdirSync('.')).toHaveLength(2);
  });

  it('asks for the name of a file in place of that of a directory, and receives nothing', async () => {
    for (const name of ['.', 'data/']) {
      expect(await cms({}, ['asset', 'download', id, '--output', name])).toEqual({
        exitCode: 2,
        stdout: '',
        stderr: `"${name}" is not the name of a file.\nNext: cms asset download ${id} --output FILE\n`,
      });
    }
  });

  it('names the directory that is not there', async () => {
    const download = { method: 'GET', url: `${server.endpoint}/d1/content`, headers: {}, expires_at: '' };
    const answers = { [`GET /assets/${id}`]: json({ ...asset, download }), 'GET /content': json(content) };
    expect(await cms(answers, ['asset', 'download', id, '--output', 'nowhere/penguins.csv'])).toEqual({
      exitCode: 2,
      stdout: '',
      stderr: `There is no directory "nowhere".\nNext: cms asset download ${id} --output FILE\n`,
    });
  });

  it('says why there is no connection to storage, and exits with 8', async () => {
    const url = `${server.endpoint.replace('http:', 'https:')}/d1/content`;
    const download = { method: 'GET', url, headers: {}, expires_at: '' };
    const answers = { [`GET /assets/${id}`]: json({ ...asset, download }) };
    const { exitCode, stderr } = await cms(answers, ['asset', 'download', id, '--output', 'penguins']);
    expect(exitCode).toBe(8);
    expect(stderr).toMatch(
      new RegExp(`^No connection: the server does not use https\\nNext: cms asset download ${id} --output penguins\\n$`),
    );
  });
});

describe('cms asset upload, while the service does not hash what has arrived,', () => {
  const file = 'large.bin';
  const pending = { id, file_name: file, created_by: 'alice', asset_type: 'dataset', state: 'pending', checksum: null };
  /** Creates an asset, takes its content, and answers that it is pending, each time so many seconds later. */
  const arrived = (seconds: number, onPending = () => {}): Record<string, Answer> => ({
    'POST /assets': (request, response) => {
      const upload = { method: 'PUT', url: `${server.endpoint}/d1/content`, headers: {}, expires_at: '' };
      json({ ...pending, upload }, 201)(request, response);
    },
    'PUT /content': (_, response) => void response.writeHead(200).end(),
    [`GET /assets/${id}`]: (request, response) => {
      vi.advanceTimersByTime(seconds * 1_000);
      onPending();
      json(pending)(request, response);
    },
  });

  beforeAll(() => {
    writeFileSync(file, '');
    truncateSync(file, 4 * 1024 * 1024 + 1);
    vi.useFakeTimers({ toFake: ['Date', 'performance'] });
  });
  afterAll(() => {
    vi.useRealTimers();
    rmSync(file);
  });

  it('says so after some seconds, gives up after five minutes, and leads to the asset', async () => {
    expect(await cms(arrived(120), ['asset', 'upload', '--type', 'dataset', file])).toEqual({
      exitCode: 8,
      stdout: '',
      stderr:
        'large.bin has arrived. Waiting until the service has hashed it.\n' +
        'large.bin has arrived, but the service has not hashed it within 5 minutes. It may do so later. Then type the same again.\n' +
        `Next: cms asset show ${id}\n`,
    });
  });

  it('ends at Ctrl-C while the asset is created, and calls the file incomplete', async () => {
    const ending = new AbortController();
    const answers = { 'POST /assets': () => ending.abort() };
    expect(await cms(answers, ['asset', 'upload', '--type', 'dataset', file], ending.signal)).toEqual({
      exitCode: 130,
      stdout: '',
      stderr: `Interrupted. large.bin is not complete.\nNext: cms asset upload --type dataset large.bin\n`,
    });
  });

  it('ends at Ctrl-C, and does not call the file incomplete', async () => {
    const ending = new AbortController();
    const answers = arrived(0, () => setTimeout(() => ending.abort(), 50));
    expect(await cms(answers, ['asset', 'upload', '--type', 'dataset', file], ending.signal)).toEqual({
      exitCode: 130,
      stdout: '',
      stderr: `Interrupted. large.bin has arrived, but the service has not hashed it yet.\nNext: cms asset upload --type dataset large.bin\n`,
    });
  });
});

describe('cms evidence, where the evidence of the run is already', () => {
  const saved = (name: string) => JSON.parse(readFileSync(join('kept', `${name}.json`), 'utf8')) as unknown;
  const hashes = ['ab'.repeat(32), '../token'];
  const attestation = { tokens: hashes.map((hash) => ({ hash })) };
  const statement = {
    domain: 'd1',
    computation: id,
    run: { id: 'r1' },
    events: { started: { hash: 'aa' }, last: { hash: 'bb' } },
    log: { origin: testLog.origin, vkey: testLog.vkey },
    issued_at: '1',
    attestation,
  };
  const log = logOf(statement);
  const { checkpoint } = parseProof(log.entries[0]?.proof ?? '');
  const evidence = { statement, signature: 's', key_id: 'k1', log };
  const [k1, k2] = [
    { kid: 'k1', x: 'AQAB' },
    { kid: 'k2', x: 'AQAC' },
  ];
  const save = (given: object, keys: object[], events: object[] = [], tokens: object[] = []) =>
    cms(
      {
        [`GET /computations/${id}/run`]: json({ id: 'r1', result: null }),
        [`GET /computations/${id}/evidence`]: json(given),
        'GET /.well-known/jwks.json': json({ keys }),
        'GET /log/checkpoint': (_, response) => void response.end(checkpoint),
        [`GET /computations/${id}/events`]: json({ events, limit: 100, offset: 0, total: events.length }),
        [`GET /computations/${id}/attestation`]: json({ run_id: 'r1', verdict: null, checks: [], tokens }),
        'GET /storage': (_, response) => void response.end('another token'),
      },
      ['evidence', id, '--run', 'r1', '--output', 'kept'],
    );

  it('refuses a file in place of the directory', async () => {
    writeFileSync('kept', 'mine');
    expect(await save(evidence, [k1])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringMatching(/^kept is not a directory\.\n/),
    });
    rmSync('kept');
  });

  it('refuses another statement and another key of the same name, and replaces nothing', async () => {
    expect(await save(evidence, [k1])).toMatchObject({ exitCode: 0 });
    const other = { ...evidence, statement: { ...evidence.statement, issued_at: '2' } };
    expect(await save(other, [k1])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining(
        `The service now gives another statement about this run than the one in ${join('kept', 'evidence.json')}. Nothing was replaced`,
      ),
    });
    expect(await save(evidence, [{ ...k1, x: 'AQAD' }])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining(`The service now gives another key k1 than the one in ${join('kept', 'keys.json')}.`),
    });
    expect([saved('evidence'), saved('keys')]).toEqual([evidence, { keys: [k1] }]);
  });

  it('keeps the keys that the service no longer names, and adds new keys and events', async () => {
    expect(await save(evidence, [k2], [{ id: 'e1' }])).toMatchObject({ exitCode: 0 });
    expect([saved('keys'), saved('events')]).toEqual([{ keys: [k1, k2] }, { events: [{ id: 'e1' }] }]);
  });

  it('saves no attestation token that has another hash than the service says, or that is named by a path', async () => {
    for (const [hash, message] of [
      ['ab'.repeat(32), 'another attestation token than the one that it names'],
      ['../token', 'by something other than its SHA-256'],
    ] as const) {
      const token = { kind: 'eat', hash, size: 1, download: { url: `${server.endpoint}/storage`, expires_at: '2030-01-01' } };
      expect(await save(evidence, [k1], [{ id: 'e1' }], [token])).toMatchObject({
        exitCode: 1,
        stderr: expect.stringContaining(message),
      });
    }
    expect(readdirSync('kept').sort()).toEqual(['events.json', 'evidence.json', 'keys.json']);
  });

  it('saves no attestation token that the statement does not name', async () => {
    const token = { kind: 'eat', hash: 'cd'.repeat(32), size: 1, download: { url: `${server.endpoint}/storage` } };
    expect(await save(evidence, [k1], [{ id: 'e1' }], [token])).toMatchObject({ exitCode: 0 });
    expect(readdirSync('kept').sort()).toEqual(['events.json', 'evidence.json', 'keys.json']);
  });

  it('refuses events among which a saved one is missing or was changed, and replaces nothing', async () => {
    const saves = [
      [[{ id: 'e2' }], `no event e1, which is in ${join('kept', 'events.json')}`],
      [[{ id: 'e2' }, { id: 'e1', status: 'x' }], `another event e1 than the one in ${join('kept', 'events.json')}`],
    ] as const;
    for (const [events, what] of saves) {
      expect(await save(evidence, [k1], [...events])).toMatchObject({
        exitCode: 1,
        stderr: expect.stringContaining(`The service now gives ${what}. Nothing was replaced in kept.`),
      });
    }
    expect(saved('events')).toEqual({ events: [{ id: 'e1' }] });
    expect(await save(evidence, [k1], [{ id: 'e2' }, { id: 'e1' }])).toMatchObject({ exitCode: 0 });
    expect(saved('events')).toEqual({ events: [{ id: 'e2' }, { id: 'e1' }] });
  });
});

describe('files of this machine', () => {
  it('are refused above 5 GiB before they are read, with the exit code 2', async () => {
    const file = join(folder, 'huge.bin');
    writeFileSync(file, '');
    truncateSync(file, 5 * 1024 ** 3 + 1);
    expect(await cms({}, ['asset', 'upload', '--type', 'dataset', file])).toEqual({
      exitCode: 2,
      stdout: '',
      stderr: 'huge.bin has 5368709121 bytes. An asset has at most 5 GiB.\nNext: cms asset upload --help\n',
    });
    rmSync(file);
  });

  it('with evidence that was cut are named as such', async () => {
    mkdirSync('evidence');
    writeFileSync(join('evidence', 'evidence.json'), '{"statement":');
    const { exitCode, stderr } = await cms({ [`GET /computations/${id}/run`]: json({ id: 'r1', result: null }) }, [
      'evidence',
      id,
      '--run',
      'r1',
    ]);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/^evidence already contains an evidence\.json that cannot be read\.\nNext: cms evidence /);
  });
});
