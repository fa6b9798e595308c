import { toHex } from 'computation-management-formats/bytes';
import { changeCards } from 'computation-management-words';
import { configurationOf } from 'computation-management-formats/consent';
import { canonicalDigest } from 'computation-management-formats/digests';
import { parsePublicKey } from 'computation-management-formats/public-key';
import { plainName } from 'computation-management-formats/quoted-name';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { startAnsweringServer, type Answer, type AnsweringServer } from '../../support/answering-server.ts';
import { changesOfEachField } from '../../support/covered-changes.ts';
import { withoutChanging, cmsIn } from './fake-terminal.ts';
import { publicKey } from '../../support/ready-computation.ts';

const idOf = (number: number) => `00000000-0000-8000-8000-${String(number).padStart(12, '0')}`;
const todoOf = (count: number) => ({
  approvals: Array.from({ length: count }, (_, index) => ({
    computation_id: idOf(index),
    name: `Study ${index}`,
    because: ['result consumer'],
    manifest_digest: 'd',
  })),
  reviews: [],
  keys: [],
  content: [],
  refusals: [],
  invitations: [],
  totals: { approvals: count, keys: 0, content: 0, refusals: 0, invitations: 0 },
});

let server: AnsweringServer;
const asked: string[] = [];
beforeAll(async () => {
  server = await startAnsweringServer();
});
afterAll(() => server.stop());

/** Runs a command against a service that answers by path, after the domain. A path without an answer gets none. */
function cms(answers: Record<string, Answer>, signal = new AbortController().signal, columns?: number) {
  asked.length = 0;
  server.answerWith((request, response) => {
    const path = request.url?.replace(/^\/d1/, '').replace(/\?.*/, '') ?? '';
    asked.push(`${request.method} ${path}`);
    answers[path]?.(request, response);
  });
  const token = `e30.${Buffer.from(JSON.stringify({ sub: 'alice' })).toString('base64url')}.c2ln`;
  const env = { CMS_SERVER: server.endpoint, CMS_DOMAIN: 'd1', CMS_TOKEN: token };
  const run = cmsIn('/nowhere', { env, signal, columns });
  return async (...args: string[]) => withoutChanging(await run(...args));
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
  max_runs: null,
  used_runs: null,
  approval_id: null,
  journal_head: null,
  signed: false,
  stale: false,
  stale_because: null,
  approvals: [],
  refusals: [],
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
  const configuration = configurationOf({
    agent_config: {},
    approval: 'none',
    attestation_policy: null,
    log_access: 'none',
    result_review: null,
  });
  const digests = { 'manifest-digest': canonicalDigest(manifest), 'configuration-digest': canonicalDigest(configuration) };
  const withHeaders =
    (headers: Record<string, string>): Answer =>
    (request, response) =>
      json(manifest)(request, response.setHeaders(new Map(Object.entries(headers))));
  const answers = (given: object, headers: Record<string, string> = {}) => ({
    [path]: json({ id: idOf(0), owner: 'alice', ...configuration }),
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
    expect(asked).toEqual([`GET ${path}`, `GET ${path}/events`, `GET ${path}/manifest`]);
  });

  it('approves nothing if the service returns another computation', async () => {
    const another = json({ id: idOf(1), owner: 'alice', ...configuration });
    const given = await cms({ ...answers({}), [path]: another })('approve', idOf(0), '--yes');
    expect(given).toMatchObject({ exitCode: 6, stderr: expect.stringContaining('The service returned another computation') });
    expect(asked).toEqual([`GET ${path}`, `GET ${path}/events`, `GET ${path}/manifest`]);
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
    for (const shown of [manifestDigest, configurationDigest, 'Not attested']) expect(stderr).toContain(shown);
  });
});

describe('a stale approval', () => {
  const fields = changesOfEachField();
  const groups = [fields.slice(0, 12), fields.slice(12, 24), fields.slice(24, 36), fields.slice(36)].map((group) =>
    group.flatMap(({ changes }) => changes),
  );
  const manifest = {
    id: idOf(0),
    name: 'A',
    description: '',
    algorithm: { hash: [], user_key: '' },
    datasets: [],
    result_consumers: [],
  };
  const configuration = configurationOf({
    agent_config: {},
    approval: 'all',
    attestation_policy: null,
    log_access: 'none',
    result_review: null,
  });
  const digests = { 'manifest-digest': canonicalDigest(manifest), 'configuration-digest': canonicalDigest(configuration) };
  const withDigests =
    (body: object): Answer =>
    (request, response) =>
      json(body)(request, response.setHeaders(new Map(Object.entries(digests))));
  const asset = { id: idOf(9), asset_type: 'dataset' as const, file_name: 'a.csv' };
  const none = { limit: 100, offset: 0, total: 0 };

  it.each([['approve', idOf(0), '--yes'], ['check', idOf(0)], ['todo'], ['approvals', idOf(0)]])(
    'is told by cms %s in words, for each field that an approval covers',
    async (...line) => {
      for (const stale_because of groups) {
        const given = { ...approval, user: 'alice', approved_at: '2026-01-01T00:00:00.000Z', stale: true, stale_because };
        const ran = await cms({
          '/todo': json(todoOf(1)),
          '/assets': json({ assets: [], ...none }),
          [path]: json({ id: idOf(0), name: 'A', owner: 'alice', assets: [asset], ...configuration }),
          [`${path}/events`]: json({ events: [], ...none }),
          [`${path}/manifest`]: withDigests(manifest),
          [`${path}/dryrun`]: withDigests({
            missing_items: { keys: [], hashes: [], info: ['Approval of alice as result consumer'] },
          }),
          [`${path}/approvals`]: json({ ...approval, needed: [], approvals: [given] }),
        })(...line);
        const lines = `${ran.stdout}${ran.stderr}`.replace(/\n {6,8}(?=[^\s-])(?!before:|now:)/g, ' ').match(/(?<=^ +- ).*$/gm);
        const told = lines?.map((line) => line.replace(/ \[(?:weaker|stricter)\]$/, ''));
        const changed = stale_because.map((change) => ({ ...change, user: null, by: null, at: null }));
        const cards = changeCards({ ...given, stale_because: changed }, { computation: { assets: [asset] }, events: [] });
        expect(told).toEqual(cards.map(({ sentence }) => sentence));
      }
    },
  );

  it('is told with a warning of a name that looks like another', async () => {
    const stale_because = [
      { path: '/manifest/datasets/1/filename', approved: null, current: '\u0430.csv', user: null, by: null, at: null },
    ];
    const given = { ...approval, user: 'alice', approved_at: '2026-01-01T00:00:00.000Z', stale: true, stale_because };
    const ran = await cms({
      [path]: json({ id: idOf(0), name: 'A', owner: 'alice', assets: [asset], ...configuration }),
      [`${path}/events`]: json({ events: [], ...none }),
      [`${path}/approvals`]: json({ ...approval, needed: [], approvals: [given] }),
    })('approvals', idOf(0));
    expect(ran.stdout).toContain('looks like "a.csv"');
  });
});

describe('names of others', () => {
  /** Labels, rows, quotes, look-alikes, other forms, bidirectional and invisible characters, blanks, piles, the same name and long names. */
  const corpus = [
    ...['Algorithm', 'Dataset 1', 'Who brings what', 'Receiver 1', 'Digests', 'Manifest', 'result consumer', 'Next: cms approve'],
    'a.csv", 1 byte\n  Dataset 2      brought by "bob',
    'a.csv                                                                   Dataset 2      "b.csv"',
    ...['p\u0435nguins.csv', 'penguins.csv', '\uff50enguins.csv', 'pe\u0301nguins.csv', 'p\u00e9nguins.csv', 'penguin\u0455.csv'],
    ...[
      'a\u202evsc.exe',
      '\u2066a\u2069',
      'a\u200b.csv',
      'a\u00ad.csv',
      '\u3164',
      '\u2800',
      '\u00a0',
      ' a.csv',
      'a.csv ',
      'a\u2003.csv',
    ],
    ...[
      'a\u0301\u0301\u0301\u0301\u0301',
      '\\u{3164}',
      'x'.repeat(250),
      `${'x '.repeat(60)}Dataset 9`,
      '\ud83d\ude00'.repeat(60),
    ],
    ...['a\u001b[2K\u001b[1A', 'a\u009b2J', 'a\u2028Digests'],
  ];
  const key = publicKey();
  const file = (index: number) => ({ hash: Array.from({ length: 32 }, () => index), user_key: key });
  const of = (name: string, names: readonly string[]) => {
    const manifest = {
      id: idOf(0),
      name,
      description: name,
      algorithm: file(0),
      datasets: names.map((filename, index) => ({ ...file(index + 1), filename })),
      result_consumers: [{ user_key: key }],
    };
    const certificates = { cert_file: '/etc/a', server_ca_file: name, client_ca_file: '' };
    const configuration = configurationOf({
      agent_config: certificates,
      approval: 'all',
      attestation_policy: null,
      log_access: 'none',
      result_review: null,
    });
    const inputs = ['the algorithm', ...names].map((file_name, index) => ({ id: idOf(100 + index), file_name }));
    const assets = inputs.map((input, index) => ({ ...input, asset_type: index === 0 ? 'algorithm' : 'dataset' }));
    const rows = assets
      .map((asset, index) => ({ ...asset, checksum: toHex(file(index).hash), mime_type: name, size: 1, created_by: name }))
      .reverse();
    const event = {
      id: idOf(50),
      hash: 'ab'.repeat(32),
      originator: name,
      details: btoa(JSON.stringify({ fingerprint: parsePublicKey(key).fingerprint })),
    };
    const digests = { 'manifest-digest': canonicalDigest(manifest), 'configuration-digest': canonicalDigest(configuration) };
    return cms({
      '/todo': json(todoOf(1)),
      '/assets': json({ assets: rows, limit: 100, offset: 0, total: rows.length }),
      [path]: json({ id: idOf(0), name: 'Study', owner: 'alice', assets, ...configuration }),
      [`${path}/dryrun`]: (request, response) =>
        json({ missing_items: { keys: [], hashes: [], info: [] } })(
          request,
          response.setHeaders(new Map(Object.entries(digests))),
        ),
      [`${path}/events`]: json({ events: [event], limit: 100, offset: 0, total: 1 }),
      [`${path}/manifest`]: (request, response) => json(manifest)(request, response.setHeaders(new Map(Object.entries(digests)))),
      [`${path}/approvals`]: json({ ...approval, needed: [] }),
    });
  };

  it.each([['approve', idOf(0), '--yes'], ['check', idOf(0)], ['manifest', idOf(0)], ['todo']])(
    'pass for no row of a manifest in cms %s',
    async (...line) => {
      // Where the first line, the titles and the labels stand, with what follows a label cut off.
      const frame = ({ stdout, stderr }: { stdout: string; stderr: string }) =>
        `${stdout}${stderr}`
          .split('\n')
          .flatMap((text) => (/^ {12}/.test(text) ? [] : [text.slice(0, line[0] === 'todo' ? 15 : 13)]));
      const rowOf = (text: string, row: string) => text.slice(text.indexOf(`  ${row} `)).split(/\n(?! {13})/)[0] ?? '';
      const usual = await of(
        'a.csv',
        corpus.map((_, index) => `${index}.csv`),
      )(...line);
      const masked = (text: string[]) => text.map((each) => each.replace(/[0-9a-f]{8,}|(?<=^ *Manifest +)[0-9a-f]/, ''));
      const shown = new Set<string>();
      for (const [at, name] of (line[0] === 'approve' ? corpus : corpus.slice(0, 3)).entries()) {
        const others = [name, ...corpus.filter((other) => other !== name)];
        const ran =
          at === 0
            ? await of('a.csv', others)(...line)
            : await of(
                name,
                corpus.map((_, index) => `${index}.csv`),
              )(...line);
        expect([name, ran.exitCode, masked(frame(ran))]).toEqual([name, 0, masked(frame(usual))]);
        const lines = `${ran.stdout}${ran.stderr}`.split('\n');
        expect(lines.filter((each) => each.length > 112 || /[\p{C}\u3164\u2800]/u.test(each))).toEqual([]);
        if (at === 0)
          for (const [index] of others.entries()) shown.add(rowOf(lines.join('\n'), `Dataset ${index + 1}`).slice(12));
      }
      expect(shown.size).toBe(corpus.length);
    },
  );
});

describe('names of others in other places', () => {
  const lookAlike = 'a\u0430.csv';
  const corpus = [...['Algorithm', 'a.csv', ' a.csv', 'a\u202e.csv', '\u3164', lookAlike], `${'x '.repeat(120)}To do: 0`];
  const labels =
    /^(?:Refusal of|Invitation of|Approve|Upload your key to|Upload the content of|To do:|Active runs:|Approvals given on this machine that expire:| {4,}| {2}["\w-])/;

  it('begin no line of cms todo and cms status, and each is told from the others', async () => {
    const todo = {
      approvals: [],
      reviews: [],
      keys: corpus.map((name, index) => ({ computation_id: idOf(index), name })),
      content: corpus.map((file_name, index) => ({ asset_id: idOf(index), file_name })),
      refusals: corpus.map((name, index) => ({ computation_id: idOf(index), name, user: name, reason: name, refused_at: '' })),
      invitations: corpus.map((name, index) => ({ computation_id: idOf(index), name, owner: name, expected: ['provider'] })),
      totals: { approvals: 0, keys: corpus.length, content: corpus.length, refusals: corpus.length, invitations: corpus.length },
    };
    const page = { limit: 100, offset: 0, total: corpus.length };
    const run = { cvm_id: 'cvm-1', status: 'running', started_at: '2026-01-01T00:00:00.000Z' };
    const runs = corpus.map((_, index) => ({ ...run, id: `r${index}`, computation_id: idOf(index) })).reverse();
    const computations = corpus.map((name, index) => ({ id: idOf(index), name, owner: name })).reverse();
    const answers: Record<string, Answer> = {
      '/todo': json(todo),
      '/computations': json({ computations, ...page }),
      ...Object.fromEntries(
        computations.flatMap((row) => [
          [`/computations/${row.id}`, json(row)],
          [`/computations/${row.id}/events`, json({ events: [] })],
          [`/assets/${row.id}`, json({ created_at: '2026-01-01T00:00:00.000Z' })],
        ]),
      ),
      '/computations/runs': json({ runs, ...page }),
    };
    for (const command of ['todo', 'status']) {
      const { exitCode, stdout } = await cms(answers)(command);
      expect([exitCode, stdout.split('\n').filter((line) => line.length > 110 || !(line === '' || labels.test(line)))]).toEqual([
        0,
        [],
      ]);
      for (const name of corpus) expect(stdout.replaceAll(/\n {6}/g, ' ')).toContain(plainName(name).slice(0, 200).trimEnd());
      expect(stdout).toContain('(not ASCII: U+0430)');
      expect(stdout).not.toMatch(/\u202e|\u3164/u);
    }
  });

  it('begin no line of a log on a terminal, and keep the lines of an export', async () => {
    const message = `${'x '.repeat(120)}2026-01-01T00:00:01.000Z  info   Approved`;
    const line = { time: '2026-01-01T00:00:00.000Z', level: 'info', message };
    const logs = await cms({ [`${path}/logs`]: json({ logs: [line], next: '' }) }, undefined, 80)('logs', idOf(0));
    expect(logs.stdout.split('\n').filter((each) => each.length > 80 || !/^(?:$| {6}|2026-01-01T00:00:00)/.test(each))).toEqual(
      [],
    );
    const given = {
      id: idOf(0),
      owner: 'alice',
      agent_config: {},
      approval: 'all',
      log_access: 'none',
      attestation_policy: null,
    };
    for (const name of [...corpus, 'a\nparties: {}']) {
      const assets = [{ id: idOf(1), asset_type: 'algorithm', file_name: name }];
      const row = {
        ...assets[0],
        created_by: name,
        description: name,
        mime_type: name,
        use: 'open',
        content_access: 'creator',
        source: null,
      };
      const answers = {
        [path]: json({ ...given, name, description: name, consumers: [name], providers: [name], assets }),
        '/assets': json({ assets: [row], limit: 100, offset: 0, total: 1 }),
      };
      const { stdout } = await cms(answers)('export', idOf(0));
      expect(stdout).not.toMatch(/\u202e/u);
      expect(parse(stdout)).toMatchObject({
        computation: { name, consumers: [name] },
        parties: { [name]: { assets: [{ file: name }] } },
      });
      expect(stdout.split('\n').filter((each) => !/^ +- "?|^ +[?:] |^ *"?[^"]*"?:|^ +"|^$/.test(each))).toEqual([]);
    }
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

describe('an approval that is for other CVMs', () => {
  const limit = 'Approval of bob, which allows only the CVMs cvm-1 and cvm-2';
  const missing_items = { keys: [], hashes: [], info: [limit] };
  const said = `Nothing is missing, but approvals do not allow this CVM:\n  ! ${limit.replace('Approval of bob', 'The approval of bob is there')}\n`;

  it('is explained, and nobody is told to approve again', async () => {
    const limited = json({ needed: [{ user: 'bob' }], approvals: [{ ...approval, user: 'bob', cvm_ids: ['cvm-1', 'cvm-2'] }] });
    const answers = {
      [path]: json({ name: 'A' }),
      [`${path}/dryrun`]: json({ missing_items }),
      [`${path}/approvals`]: limited,
      [`${path}/run`]: json({ code: 'incomplete', detail: 'Missing.', missing_items }, 422),
    };
    const checked = await cms(answers)('check', idOf(0), '--cvm', 'sim-1');
    expect(checked).toMatchObject({ exitCode: 7, stdout: `A is not ready. ${said}` });
    expect(checked.stderr).toContain(`Next: cms run ${idOf(0)} --cvm cvm-1 --watch\n`);
    const refused = await cms(answers)('run', idOf(0), '--cvm', 'sim-1');
    expect(refused).toMatchObject({
      exitCode: 7,
      stderr: `The computation is not ready. ${said}Next: cms check ${idOf(0)}\n`,
    });
  });
});

describe('cms withdraw', () => {
  it('asks first, and without a terminal takes --yes', async () => {
    const answers = { [path]: json({ name: 'A' }), [`${path}/approvals`]: json({}, 204) };
    const refused = await cms(answers)('withdraw', idOf(0));
    expect(refused).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(`Next: cms withdraw ${idOf(0)} --yes\n`) });
    expect(asked).toEqual([`GET ${path}`]);
    await cms(answers)('withdraw', idOf(0), '--yes');
    expect(asked).toEqual([`GET ${path}`, `DELETE ${path}/approvals`]);
  });
});

describe('cms todo', () => {
  it('says how many wait beyond those that are listed', async () => {
    const todo = { ...todoOf(0), totals: { approvals: 12, keys: 0, content: 0 } };
    expect((await cms({ '/todo': json(todo) })('todo')).stdout).toBe('These are 0 of 12 approvals that wait for you.\n');
  });

  it('says from whom each task is, since when it waits, and why somebody refuses', async () => {
    const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
    const of = { computation_id: idOf(0), name: 'A' };
    const todo = {
      ...todoOf(1),
      keys: [of],
      content: [{ asset_id: idOf(1), file_name: 'a.csv' }],
      reviews: [{ ...of, run_id: idOf(2) }],
      refusals: [{ ...of, user: 'bob', reason: 'No.', refused_at: ago(3) }],
      invitations: [{ ...of, owner: 'carol', expected: ['consumer'] }],
    };
    const events = [
      { event_type: 'completed', originator: 'system', timestamp: ago(5), details: '' },
      { event_type: 'asset_linked', originator: 'alice', timestamp: ago(8), details: '' },
      { event_type: 'created', originator: 'carol', timestamp: ago(9), details: '' },
    ];
    const answers = {
      '/todo': json(todo),
      [path]: json({ owner: 'carol' }),
      [`${path}/events`]: json({ events }),
      [`${path}/approvals`]: json({ approvals: [] }),
      [`${path}/manifest`]: json({}, 422),
      [`/assets/${idOf(1)}`]: json({ created_at: ago(7) }),
    };
    const { stdout } = await cms(answers)('todo');
    expect(stdout.split('\n').filter((line) => /^ {2}\S/.test(line))).toEqual([
      '  From carol, 8 minutes ago',
      '  From carol, 8 minutes ago',
      '  Created 7 minutes ago',
      '  From carol, 5 minutes ago',
      '  "No.", 3 minutes ago',
      '  Invited 8 minutes ago',
    ]);
  });

  it('asks the service about at most twenty tasks that are no approvals, and lists them all', async () => {
    const keys = Array.from({ length: 30 }, (_, index) => ({ computation_id: idOf(index), name: `Study ${index}` }));
    const content = keys.map(({ computation_id, name }) => ({ asset_id: computation_id, file_name: name }));
    const answers = keys.flatMap(({ computation_id: id }) => [
      [`/computations/${id}`, json({ owner: 'carol' })] as const,
      [`/computations/${id}/events`, json({ events: [] })] as const,
      [`/assets/${id}`, json({ created_at: '2026-01-01T00:00:00Z' })] as const,
    ]);
    const todo = json({ ...todoOf(0), keys, content });
    const { stdout } = await cms({ '/todo': todo, ...Object.fromEntries(answers) })('todo');
    expect(stdout.match(/Study 29/g)).toHaveLength(3); // two in the line of the content, with its command
    for (const [kind, asks] of Object.entries({ 'computations/[^/]*$': 20, 'computations/.*/events$': 20, assets: 20 }))
      expect(asked.filter((path) => new RegExp(`^GET /${kind}`).test(path))).toHaveLength(asks);
  });

  it('says as of when this is, if changes are followed late', async () => {
    const asOf = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
    const late = await cms({ '/todo': json({ ...todoOf(0), as_of: asOf(12) }) })('todo');
    expect(late.stderr).toBe('This is as of 12 minutes ago: what changed since then may be missing.\n');
    expect((await cms({ '/todo': json({ ...todoOf(0), as_of: asOf(2) }) })('todo')).stderr).toBe('');
    const list = {
      '/todo': json({ as_of: asOf(12) }),
      '/computations': json({ computations: [], total: 0, limit: 100, offset: 0 }),
    };
    expect((await cms(list)('computation', 'list', '--waiting')).stderr).toContain(late.stderr);
    expect((await cms(list)('computation', 'list')).stderr).not.toContain('as of');
    const answer = await cms({ '/todo': json({ ...todoOf(0), as_of: '2026-01-01T00:00:00Z' }) })('todo', '--json');
    expect(JSON.parse(answer.stdout)).toMatchObject({ as_of: '2026-01-01T00:00:00Z' });
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
    const none = [0, 1, 2].map((index) => [`/computations/${idOf(index)}/manifest`, json({}, 422)] as const);
    const answers = { '/todo': json(todoOf(11)), ...Object.fromEntries([...computations, ...none]) };
    const { exitCode, stdout } = await cms(answers)('todo');
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
