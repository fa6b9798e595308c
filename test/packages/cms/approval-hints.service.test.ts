import { configurationOf } from 'computation-management-formats/approval-text';
import { canonicalDigest } from 'computation-management-formats/digests';
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
const approval = {
  user: 'alice',
  digest: 'd',
  configuration_digest: 'd',
  cvm_ids: null,
  expires_at: null,
  signed: false,
  stale: false,
  stale_because: null,
  approvals: [],
  approved_at: '',
};

describe('cms approve', () => {
  const manifest = {
    id: idOf(0),
    name: 'A',
    description: '',
    algorithm: { hash: [], user_key: '' },
    datasets: [],
    result_consumers: [],
  };
  const configuration = configurationOf({ agent_config: {}, approval: 'none', attestation_policy: null, log_access: 'none' });
  const digests = { 'manifest-digest': canonicalDigest(manifest), 'configuration-digest': canonicalDigest(configuration) };
  const withHeaders =
    (headers: Record<string, string>): Answer =>
    (request, response) =>
      json(manifest)(request, response.setHeaders(new Map(Object.entries(headers))));
  const answers = (given: object, headers: Record<string, string> = {}) => ({
    [path]: json({ owner: 'alice', ...configuration }),
    [`${path}/events`]: json({ events: [], limit: 100, offset: 0, total: 0 }),
    [`${path}/manifest`]: withHeaders({ ...digests, ...headers }),
    [`${path}/approvals`]: json({ ...approval, ...given }, 201),
  });

  it.each([
    [
      'expired by now',
      ['--expires', '1s'],
      'The approval does not count: perhaps it has expired, .*\nNext: cms approvals \\S+\n',
    ],
    [
      'stale for another reason',
      [],
      'The approval does not count: the key or the configuration has changed since\\.\nNext: cms approvals \\S+\n',
    ],
  ])('says that an approval does not count which is %s', async (_, options, note) => {
    const { exitCode, stderr } = await cms(answers({ stale: true }))('approve', idOf(0), '--yes', ...options);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: expect.stringMatching(new RegExp(`${note}$`)) });
  });

  it.each(['manifest-digest', 'configuration-digest'])('approves nothing if the service names another %s', async (header) => {
    const given = await cms(answers({}, { [header]: '0'.repeat(64) }))('approve', idOf(0), '--yes');
    expect(given).toMatchObject({ exitCode: 6, stderr: expect.stringContaining('Nothing was approved') });
    expect(asked).toEqual([`GET ${path}`, `GET ${path}/manifest`]);
  });

  it('approves without asking only what --digest and --configuration name, and shows it', async () => {
    const [manifestDigest, configurationDigest] = [digests['manifest-digest'], digests['configuration-digest']];
    const approve = (digest: string, of: string) =>
      cms(answers({}))('approve', idOf(0), '--digest', digest, '--configuration', of);
    for (const [given, option] of [
      [await approve('0'.repeat(64), configurationDigest), '--digest'],
      [await approve(manifestDigest, '0'.repeat(64)), '--configuration'],
    ] as const) {
      expect(given).toMatchObject({ exitCode: 6, stderr: expect.stringMatching(`^${option} is not the current digest`) });
    }
    const { exitCode, stderr } = await approve(manifestDigest, configurationDigest);
    expect({ exitCode, last: asked.at(-1) }).toEqual({ exitCode: 0, last: `POST ${path}/approvals` });
    for (const shown of [manifestDigest, configurationDigest, 'not attested']) expect(stderr).toContain(shown);
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
