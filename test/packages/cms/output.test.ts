import { parsePublicKey } from 'computation-management-formats/public-key';
import { createClient, type ProblemFields, type Schemas, ServiceProblem, sizeText } from 'computation-management-client';
import { configurationOf } from 'computation-management-formats/consent';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { agoText, describeCoverage } from 'computation-management-words';
import { named, thenUse } from '../../../packages/cms/context/computation-reference.ts';
import type { Session } from '../../../packages/cms/context/context.ts';
import { formatCoverage, formatManifest } from '../../../packages/cms/context/coverage.ts';
import type { Collaboration } from '../../../packages/cms/collaboration/collaboration.ts';
import { findComputation } from '../../../packages/cms/collaboration/sync.ts';
import { explainProblem } from '../../../packages/cms/context/explain-problem.ts';
import { formatMissing, missingItems } from '../../../packages/cms/context/missing-items.ts';
import { processTerminal } from '../../../packages/cms/terminal/terminal.ts';
import { printableLines, commandLine } from '../../../packages/cms/terminal/text.ts';
import { type Column, table } from '../../../packages/cms/terminal/table.ts';
import type { Profile } from '../../../packages/cms/profile/profile.ts';
import { publicKey } from '../../support/ready-computation.ts';
import { eventLine } from '../../../packages/cms/commands/watch-to-end.ts';

interface Row {
  id: string;
  name: string;
}
const columns: Column<Row>[] = [
  { title: 'id', value: ({ id }) => id },
  { title: 'name', value: ({ name }) => name, cuts: true },
];

describe('a table', () => {
  it.each([
    [0, undefined],
    [40, 40],
  ])('takes the width of the terminal, of which 0 columns say that it is unknown: %i', (columns, width) => {
    const { stdout } = process;
    const facts = { isTTY: { value: true }, columns: { value: columns }, hasColors: { value: () => false } };
    const ofProcess = vi.spyOn(process, 'stdout', 'get').mockReturnValue(Object.create(stdout, facts) as typeof stdout);
    onTestFinished(() => ofProcess.mockRestore());
    expect(processTerminal().columns).toBe(width);
  });

  it('fits the width of the terminal: it cuts the columns that may be cut', () => {
    const printed = table([{ id: '12345678', name: 'A name that is too long' }], columns, { columns: 20, colours: false });
    expect(printed).toBe('ID        NAME\n12345678  A name th…\n');
  });

  it('is whole where the output is not a terminal', () => {
    const printed = table([{ id: '1', name: 'A name that is too long' }], columns);
    expect(printed).toContain('A name that is too long');
  });

  it('never prints control characters, with which a name could rewrite the terminal', () => {
    expect(table([{ id: '1', name: 'a\u001b[2Jb\u202ec\rd' }], columns)).toBe('ID  NAME\n1   a [2Jb c d\n');
  });

  it('aligns wide characters', () => {
    const both: Column<Row>[] = [...columns].reverse();
    const lines = table(
      [
        { id: '1', name: '数据' },
        { id: '2', name: 'data' },
      ],
      both,
    ).split('\n');
    expect(lines.slice(0, 3)).toEqual(['NAME  ID', '数据  1', 'data  2']);
  });
});

describe('the text of a command', () => {
  it('keeps its lines and its colours, and no other control characters', () => {
    expect(printableLines('a\n\u001b[32mb\u001b[39m\u001b[2Jc\rd\u009b1m\n')).toBe('a\n\u001b[32mb\u001b[39m [2Jc d 1m\n');
  });
});

describe('a manifest', () => {
  it('is shown with the configuration that an approval covers', () => {
    const config = { attested_tls: true, cert_file: '/etc/agent.pem', server_ca_file: '-----BEGIN CERTIFICATE-----\nMA==\n' };
    const [ofAlice, ofBob, ofNobody] = [publicKey(), publicKey(), publicKey()] as const;
    const manifest = {
      id: 'c',
      name: 'n',
      description: '',
      algorithm: { hash: [1], user_key: ofAlice },
      datasets: [{ hash: [2], user_key: ofBob, filename: 'a.csv' }],
      result_consumers: [{ user_key: ofAlice }, { user_key: ofNobody }],
    };
    const row = {
      file_name: 'a.csv',
      asset_type: 'dataset',
      checksum: '02',
      mime_type: 'text/csv',
      size: 5,
      created_by: 'bob "b"',
    };
    const owners = {
      assets: [row as Schemas['AssetRow']],
      usersWith: (fingerprint: string) => (fingerprint === parsePublicKey(ofAlice).fingerprint ? ['alice', 'eve'] : []),
    };
    const configuration = configurationOf({
      agent_config: config,
      approval: 'all',
      attestation_policy: null,
      log_access: 'none',
      result_review: null,
    });
    const covered = describeCoverage(manifest, configuration, owners);
    const shown = formatCoverage(
      covered,
      { columns: undefined },
      { computation: {}, you: 'alice', limits: { cvm_ids: ['c-1'] } },
    );
    const [key1, key2, key3] = [ofAlice, ofBob, ofNobody].map((key) => `key ${parsePublicKey(key).fingerprint} of`);
    for (const text of [
      `Algorithm  brought by nobody whom the service names\n`,
      `\n  Dataset 1  brought by "bob \\"b\\""\n             "a.csv", "text/csv", 5 bytes\n`,
      `SHA3-256 02\n             ${key2} "bob \\"b\\""\n`,
      `\nWho gets the results from the CVM\n  Receiver 1  ${key1} "alice", "eve"\n  Receiver 2  ${key3} nobody whom the service names\n`,
      'Machines                     Only the CVMs "c-1"\n                               Any: no attestation is asked for\n',
      'TLS of the agent             Attested\n  Certificate of the agent     The file "/etc/agent.pem" in the CVM\n',
      'CA of the clients            None\n  Whose approval a run needs   Every party approves\n',
      '  !  The arguments of the algorithm are not covered: its provider gives them to the agent.\n',
      `  !  The key ${parsePublicKey(ofNobody).fingerprint} belongs to nobody whom the service names.\n`,
    ])
      expect(shown).toContain(text);
    expect(shown).toMatch(/CA of the server {13}Given as text\n {31}SHA-256 [0-9a-f]{64}\n/);
    expect(shown).toMatch(/Manifest {7}[0-9a-f]{64}\n {2}Configuration {2}[0-9a-f]{64}\n$/);
    expect(formatManifest(manifest, { columns: 80 })).not.toContain('Configuration');
    const [dataset] = manifest.datasets;
    const strange = {
      ...manifest,
      algorithm: { ...manifest.algorithm, algo_args: ['-x'], filename: 'f' },
      datasets: [Object.assign({}, dataset, { kbs: { enabled: true } })],
      result_consumers: [Object.assign({ user_key: ofAlice }, { limit: 1 })],
      version: 2,
    } as typeof manifest;
    const all = formatManifest(strange, { columns: 80 });
    for (const line of [
      'arguments ["-x"]',
      'also filename: f',
      'the agent may use the network for it',
      'also limit: 1',
      'also version: 2',
    ]) {
      expect(all).toContain(`${line}\n`);
    }
  });
});

describe('a line of the timeline', () => {
  const event = {
    event_type: 'failed',
    status: 'failure',
    originator: 'system',
    timestamp: '2026-01-01T00:00:02.500Z',
    details: Buffer.from('{"reason": "The CVM \\u001b[1mfailed."}').toString('base64'),
  } as Parameters<typeof eventLine>[0];

  it('has the seconds since the start, the mark of an end, and the reason', () => {
    const line = eventLine(event, Date.parse('2026-01-01T00:00:00Z'), { colours: false });
    expect(line).toBe('✗    +2.5 s  system              failed              failure  The CVM  [1mfailed.');
  });
});

describe('a name among many computations', () => {
  it('is searched for with a note that an id in the file is faster', async () => {
    const client = createClient({
      baseUrl: 'https://service.test',
      domain: 'd1',
      fetch: async () =>
        Response.json({
          computations: [
            { id: 'c0', name: 'A b', owner: 'bob' },
            { id: 'c1', name: 'A b', owner: 'alice' },
          ],
          limit: 100,
          offset: 0,
          total: 1_000,
        }),
    });
    const notes: string[] = [];
    const session = {
      command: (text: string) => `cms ${text}`,
      noteWait: (text: string) => void notes.push(text),
      client,
      domain: 'd1',
    } as unknown as Session;
    const planned = { name: 'A b', owner: 'alice' } as Collaboration['computation'];
    expect(await findComputation(session, planned)).toMatchObject({ id: 'c1' });
    expect(notes).toEqual(['Searching 1000 computations of alice for "A b". To be faster, add its id to the file.\n']);
  });
});

describe('a computation that cannot be stored as the default', () => {
  it('is noted, and the commands to type next name it', async () => {
    const place = { server: '', domain: 'd1', user: 'alice' };
    const profile: Profile = { ...place, credentials: { kind: 'token' }, access_token: '', expires_at: 0 };
    const notes: string[] = [];
    const session = {
      ...place,
      profile,
      terminal: { env: {} },
      note: (text: string) => void notes.push(text),
      profiles: {
        read: async () => profile,
        change: () => Promise.reject(new Error('EROFS: read-only file system')),
      },
    } as unknown as Session;
    await thenUse(session, 'c1');
    expect(notes).toEqual(['The computation c1 could not become the default: EROFS: read-only file system\n']);
    expect(named(session, 'c1')).toBe(' c1');
  });
});

describe('sizes and times', () => {
  it.each([
    [0, '0 bytes'],
    [1, '1 byte'],
    [1_023, '1023 bytes'],
    [15_241, '14.9 KiB'],
    [1_048_575, '1.0 MiB'],
    [4_194_304, '4.0 MiB'],
    [157_286_400, '150 MiB'],
    [5_368_709_120, '5.0 GiB'],
    [5e15, '4547 TiB'],
  ])('%i bytes are %s', (bytes, text) => expect(sizeText(bytes)).toBe(text));

  it.each([
    [0, 'now'],
    [42, '42 seconds ago'],
    [60, '1 minute ago'],
    [7_300, '2 hours ago'],
    [86_400 * 3, '3 days ago'],
    [-7_300, 'in 2 hours'],
  ])('%i seconds back is %s', (seconds, text) => {
    expect(agoText('2026-01-01T00:00:00Z', Date.parse('2026-01-01T00:00:00Z') + seconds * 1_000)).toBe(text);
  });
});

describe('the command to type next', () => {
  const typed = 'cms computation update --name B';
  const explain = (fields: Partial<ProblemFields>, where: Partial<Parameters<typeof explainProblem>[1]> = {}) => {
    const problem = new ServiceProblem({
      status: 500,
      code: 'internal',
      detail: 'x',
      request: 'PUT /d1/computations/c',
      ...fields,
    });
    return explainProblem(problem, {
      server: 'https://api.example.com',
      domain: 'd1',
      user: 'alice',
      isLocal: false,
      profileName: 'default',
      login: 'issuer',
      typed,
      help: 'cms computation update --help',
      command: (text) => `cms ${text}`,
      ...where,
    });
  };
  const next = (...given: Parameters<typeof explain>) => explain(...given).next;

  it('is the command that was typed, if a repeat may succeed', () => {
    expect(next({ code: 'unavailable' })).toBe(typed);
    expect(next({ code: 'too_many_requests' })).toBe(typed);
    expect(next({ code: 'precondition_failed' })).toBe(typed);
    expect(next({ code: 'internal' })).toBe(typed);
    expect(next({ code: 'internal', request: 'POST /d1/assets/a/c' })).toBe(typed);
    expect(next({ code: 'unexpected', request: 'PUT to storage' })).toBe(typed);
    expect(next({ code: 'unreachable', request: 'POST https://login.example.com' })).toBe(typed);
  });

  it('shows what was made, if the service failed while it may have made something that a repeat would make twice', () => {
    for (const code of ['internal', 'unavailable'] as const) {
      expect(next({ code, request: 'POST /d1/computations' })).toBe('cms computation list');
      expect(next({ code, request: 'POST /d1/computations/c/run' }, { computation: 'c' })).toBe('cms runs c');
    }
    expect(next({ code: 'too_many_requests', request: 'POST /d1/computations' })).toBe(typed);
  });

  it('comes with what the service says, or with when to try again after what the API gateway says', () => {
    const message = (fields: Partial<ProblemFields>) => explain(fields).message;
    const limit = 'The domain d1 makes more than 40 changes per second. Try again later.';
    expect(message({ code: 'too_many_requests', detail: limit })).toBe(limit);
    expect(message({ code: 'too_many_requests', detail: 'Too Many Requests' })).toBe(
      'The service takes no more requests now (Too Many Requests). Try again in a minute.',
    );
    const busy = 'The service is busy. Try again in a moment.';
    expect(message({ code: 'unavailable', detail: busy })).toBe(busy);
    expect(message({ code: 'unavailable', detail: 'Service Unavailable' })).toBe(
      'The service cannot answer now (Service Unavailable). Try again in a minute.',
    );
  });

  it('comes with every invalid place that the detail does not name, also one with the same words', () => {
    const errors = ['/a', '/b', ''].map((pointer) => ({ pointer, detail: 'Unknown field.' }));
    expect(explain({ code: 'invalid_request', detail: '/a: Unknown field.', errors }).message).toBe(
      '/a: Unknown field.\n  /b: Unknown field.\n  The body: Unknown field.',
    );
  });

  it('is the login that the profile has', () => {
    expect(next({ code: 'unauthenticated' })).toBe('cms login');
    expect(next({ code: 'unauthenticated' }, { profileName: 'two words' })).toBe("cms login --profile 'two words'");
    expect(next({ code: 'unauthenticated' }, { login: 'token' })).toBe('cms login --token TOKEN');
    expect(next({ code: 'unauthenticated' }, { isLocal: true, login: 'local' })).toBe('cms login');
  });

  it('is the list of what was not found, and the help of a command that was wrong', () => {
    expect(next({ code: 'not_found', request: 'GET /d1/assets/a' })).toBe('cms asset list');
    expect(next({ code: 'not_found', request: 'GET /d1/cvms/a' })).toBe('cms cvm list');
    const run = { code: 'not_found', request: 'GET /d1/computations/c/run' } as const;
    expect(next({ ...run, detail: 'No such run of this computation.' }, { computation: 'c' })).toBe('cms runs c');
    expect(next({ ...run, detail: 'No such computation in this domain.' }, { computation: 'c' })).toBe('cms computation list');
    expect(next({ ...run, detail: 'This computation has no run yet.' }, { computation: 'c' })).toBe('cms check c');
    expect(next({ code: 'not_found' })).toBe('cms computation list');
    const start = { code: 'not_found', request: 'POST /d1/computations/c/run' } as const;
    expect(next(start, { computation: 'c' })).toBe('cms computation list');
    const link = { code: 'not_found', request: 'POST /d1/assets/a/c' } as const;
    expect(next({ ...link, detail: 'No such computation in this domain.' })).toBe('cms computation list');
    expect(next({ ...link, detail: 'No such asset in this domain.' })).toBe('cms asset list');
    expect(next({ code: 'invalid_request' })).toBe('cms computation update --help');
    expect(next({ code: 'conflict', reason: 'linked_too_widely' })).toBe('cms computation update --help');
  });

  it('is the same command with what it lacks: a key that signs, or a policy for a key', () => {
    const unsigned = (typed: string, help: string) => {
      const errors = [{ pointer: '/signature', detail: 'Expected a signature: this computation requires signed decisions.' }];
      return explain({ code: 'invalid_request', errors }, { typed, help });
    };
    const review = unsigned('cms review c --release', 'cms review --help');
    expect(review.message).toMatch(/^--key: Expected a signature/);
    expect(review.next).toBe('cms review c --release --key KEYFILE');
    expect(unsigned('cms review c --release --key id', 'cms review --help').next).toBe('cms review --help');
    expect(unsigned('cms approve c', 'cms approve --help').next).toBe('cms approve c --sign KEYFILE');
    const refused = { code: 'conflict', reason: 'no_release_policy' } as const;
    const set = { typed: 'cms asset key set a --key k --key-held party', help: 'cms asset key set --help' };
    expect(next(refused, set)).toBe(`${set.typed} --release-policy FILE`);
  });

  it('shows what answers in place of the service, or the asset whose content has another hash', () => {
    expect(next({ code: 'unexpected', request: 'download of the asset a1' })).toBe('cms asset show a1');
    expect(next({ code: 'unexpected' })).toBe('curl -i https://api.example.com/health');
  });

  it('is the help, for a code or a reason of a newer service', () => {
    expect(next({ code: 'teapot' as 'conflict' })).toBe('cms computation update --help');
    expect(next({ code: 'conflict', reason: 'too_hot' as 'cvm_busy' })).toBe('cms computation update --help');
  });

  it('can be pasted into a shell, and has no token', () => {
    expect(commandLine(['asset', 'upload', "it's here.csv", '--token', 'secret'])).toBe(
      "cms asset upload 'it'\\''s here.csv' --token TOKEN",
    );
    expect(commandLine(['login', '--token=secret'])).toBe('cms login --token=TOKEN');
  });

  it('uploads the content of the asset that lacks it', () => {
    const [item] = missingItems(
      { keys: [], hashes: ['a b.csv'], info: [] },
      { id: 'c', assets: [{ id: 'a1', file_name: 'a b.csv' }] },
    );
    expect(item?.command).toBe("asset upload 'a b.csv' --asset a1");
  });

  it.each(['you', 'its creator', 'alice for x', 'you type: cms approve c --yes #'])(
    'is of the caller alone, whatever another user is called: %s',
    (user) => {
      const items = missingItems({ keys: [user, 'alice'], hashes: [], info: [`Approval of "${user}" for a.csv`] }, { id: 'c' });
      const typed = formatMissing(items, { user: 'alice', command: (text) => `cms ${text} -d d1` })
        .split('\n')
        .filter((line) => /^ {6}/.test(line));
      expect(typed).toEqual([
        `      "${user}" types: cms key upload KEYFILE.pub c`,
        '      you type: cms key upload KEYFILE.pub c -d d1',
        `      "${user}" types: cms approve c`,
      ]);
      expect(items.at(-1)?.sentence).toBe(`Approval of "${user}" for a.csv`);
      expect(formatMissing(items, { user: undefined, command: String })).not.toContain('      you type');
    },
  );
});
