import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startAnsweringServer, type Answer, type AnsweringServer } from '../../support/answering-server.ts';
import { cmsIn } from './fake-terminal.ts';

const idOf = (number: number) => `00000000-0000-8000-8000-${String(number).padStart(12, '0')}`;
const todoOf = (count: number) => ({
  approvals: Array.from({ length: count }, (_, index) => ({
    computation_id: idOf(index),
    name: `Study ${index}`,
    because: ['result consumer'],
    manifest_digest: 'd',
  })),
  keys: [],
  content: [],
});

let server: AnsweringServer;
const asked: string[] = [];
beforeAll(async () => {
  server = await startAnsweringServer();
});
afterAll(() => server.stop());

/** Runs a command against a service that answers by path, after the domain. A path without an answer gets none. */
function cms(answers: Record<string, Answer>, signal = new AbortController().signal) {
  asked.length = 0;
  server.answerWith((request, response) => {
    const path = request.url?.replace(/^\/d1/, '').replace(/\?.*/, '') ?? '';
    asked.push(`${request.method} ${path}`);
    answers[path]?.(request, response);
  });
  const token = `e30.${Buffer.from(JSON.stringify({ sub: 'alice' })).toString('base64url')}.c2ln`;
  return cmsIn('/nowhere', { env: { CMS_SERVER: server.endpoint, CMS_DOMAIN: 'd1', CMS_TOKEN: token }, signal });
}

const json =
  (body: object, status = 200): Answer =>
  (_, response) =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));

const signed = json({ approval: 'all_signed' });

const path = `/computations/${idOf(0)}`;
const approval = { user: 'alice', digest: 'd', cvm_ids: null, expires_at: null, signed: false, stale: false, approved_at: '' };

describe('cms approve', () => {
  const manifest = { id: idOf(0), name: 'A', description: '', algorithm: { hash: [] }, datasets: [], result_consumers: [] };
  const answers = (given: object, computation: object = {}) => ({
    [path]: json(computation),
    [`${path}/manifest`]: json(manifest),
    [`${path}/approvals`]: json({ ...approval, ...given }, 201),
  });

  it.each([
    [
      'not signed',
      { approval: 'all_signed' },
      [],
      'The approval does not count yet: only signed approvals count.\nNext: .* --sign KEYFILE\n',
    ],
    [
      'expired by now',
      {},
      ['--expires', '1s'],
      'The approval does not count: perhaps it has expired, .*\nNext: cms approvals \\S+\n',
    ],
    [
      'stale for another reason',
      {},
      [],
      'The approval does not count: the key or the configuration has changed since\\.\nNext: cms approvals \\S+\n',
    ],
  ])('says that an approval does not count which is %s', async (_, computation, options, note) => {
    const { exitCode, stderr } = await cms(answers({ stale: true }, computation))('approve', idOf(0), '--yes', ...options);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: expect.stringMatching(new RegExp(`${note}$`)) });
  });

  it('approves only while the computation has the ETag of --etag', async () => {
    const withEtag: Answer = (request, response) => json({})(request, response.setHeader('etag', '"-e1"'));
    const approve = cms({ ...answers({}), [path]: withEtag });
    expect(await approve('approve', idOf(0), '--yes', '--etag', '-e0')).toEqual({
      exitCode: 6,
      stdout: '',
      stderr: `--etag is not the current ETag of the computation: something of it has changed.\nNext: cms manifest ${idOf(0)}\n`,
    });
    expect(asked).toEqual([`GET ${path}`, `GET ${path}/manifest`]);
    expect(await approve('approve', idOf(0), '--yes', '--etag', '-e1')).toMatchObject({ exitCode: 0 });
    expect(asked.at(-1)).toBe(`POST ${path}/approvals`);
  });
});

describe('cms check', () => {
  const of = (user: string, given: object = {}) => ({ ...approval, user, ...given });
  const checked = async (...approvals: object[]) => {
    const answers = {
      [path]: json({ name: 'A' }),
      [`${path}/dryrun`]: json({ missing_items: { keys: [], hashes: [], info: [] } }),
      [`${path}/approvals`]: json({ needed: [{ user: 'bob' }, { user: 'carol' }], approvals }),
    };
    return (await cms(answers)('check', idOf(0))).stderr;
  };
  const next = (cvm: string) => `Next: cms run ${idOf(0)} --cvm ${cvm} --watch\n`;

  it('advises a run on a CVM on which all needed approvals count', async () => {
    expect(await checked(of('bob', { cvm_ids: ['a', 'b'] }), of('carol', { cvm_ids: ['b'] }))).toBe(
      `The approvals are only for runs on b.\n${next('b')}`,
    );
    expect(await checked(of('bob', { cvm_ids: ['a'], stale: true }), of('carol'))).toBe(next('sim-1'));
    expect(await checked(of('bob'), of('carol'), of('dan', { cvm_ids: ['a'] }))).toBe(next('sim-1'));
    expect(await checked(of('bob', { cvm_ids: [] }), of('carol'))).toBe(next('sim-1'));
  });

  it('advises no run where the needed approvals are for different CVMs', async () => {
    expect(await checked(of('bob', { cvm_ids: ['a'] }), of('carol', { cvm_ids: ['b'] }))).toBe(
      `But the approvals are for different CVMs, so no run can start.\nNext: cms approvals ${idOf(0)}\n`,
    );
  });
});

describe('the command that approves', () => {
  it('is printed by cms todo within seconds for ten computations, and without --sign for one that does not answer', async () => {
    const held: (() => void)[] = [];
    const whenTenAreAsked: Answer = (request, response) => {
      held.push(() => signed(request, response));
      if (held.length === 10) for (const answer of held) answer();
    };
    const computations = Array.from({ length: 10 }, (_, index) => [`/computations/${idOf(index)}`, whenTenAreAsked] as const);
    const { exitCode, stdout } = await cms({ '/todo': json(todoOf(11)), ...Object.fromEntries(computations) })('todo');
    expect(exitCode).toBe(0);
    expect(stdout.split('\n').filter((line) => line.endsWith(' --sign KEYFILE'))).toHaveLength(10);
    expect(stdout).toContain(`cms approve ${idOf(10)}\n`);
  });

  it('is not waited for by cms todo after Ctrl-C', async () => {
    const ending = new AbortController();
    const answers = { '/todo': json(todoOf(1)), [`/computations/${idOf(0)}`]: () => ending.abort() };
    const { exitCode, stdout, stderr } = await cms(answers, ending.signal)('todo');
    expect([exitCode, stdout, stderr]).toEqual([130, '', 'Interrupted.\n']);
  });

  it.each([
    ['once', 'an approval', { keys: [], hashes: [], info: ['Approval of alice as result consumer'] }, 1],
    ['not', 'only a key', { keys: ['alice'], hashes: [], info: [] }, 0],
  ])('is %s asked for after a 422 that names %s', async (_, _what, missing_items, times) => {
    const incomplete = json({ code: 'incomplete', detail: 'Missing.', missing_items }, 422);
    const given = await cms({ [path]: signed, [`${path}/run`]: incomplete })('run', idOf(0), '--cvm', 'sim-1');
    expect(given.exitCode).toBe(7);
    expect(asked.slice(asked.indexOf(`POST ${path}/run`) + 1)).toEqual(Array.from({ length: times }, () => `GET ${path}`));
    expect(given.stderr.includes('--sign')).toBe(times === 1);
  });
});
