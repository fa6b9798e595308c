import { createHash, generateKeyPairSync } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from 'computation-management-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Session } from '../../../packages/cms/context/context.ts';
import { exampleCollaboration, parseCollaboration } from '../../../packages/cms/collaboration/collaboration.ts';
import { planAsset } from '../../../packages/cms/collaboration/sync.ts';
import { type Stack, startStack } from '../../../local/stack.ts';
import { strictPolicy } from '../../support/strict-policy.ts';
import { cmsIn } from './fake-terminal.ts';
import { writeSshKeys } from './ssh-keys.ts';

const folder = mkdtempSync(join(tmpdir(), 'cms-'));
const file = join(folder, 'study.yaml');
let stack: Stack;
let alice: ReturnType<typeof cmsIn>;
let bob: ReturnType<typeof cmsIn>;

interface Done {
  computation: string;
  items: { subject: string; name: string; outcome: string }[];
}

const init = async (cms: ReturnType<typeof cmsIn>) => {
  const { exitCode, stdout, stderr } = await cms('init', file, '--yes', '--json');
  const notes = stderr.split('\n').filter((line) => !line.startsWith('{"changing":'));
  expect({ exitCode, notes }).toEqual({ exitCode: 0, notes: [''] });
  return JSON.parse(stdout) as Done;
};
const outcomes = ({ items }: Done) => items.map(({ subject, outcome }) => `${subject} ${outcome}`);

function write(description: string, dataset = 'a\n1\n', { algorithm = '', name = 'incomes.csv' } = {}): void {
  writeFileSync(join(folder, 'data', 'mean.py'), 'print(1)\n');
  writeFileSync(join(folder, 'data', 'incomes.csv'), dataset);
  writeFileSync(
    file,
    `computation:
  name: Incomes
  description: ${description}
  owner: alice
  agent_config: { log_level: info }
parties:
  alice:
    key: ~/.ssh/id_ed25519.pub
    assets:
      - { file: data/mean.py, type: algorithm${algorithm && `, name: ${algorithm}`} }
  bob:
    key: ~/.ssh/id_ed25519.pub
    assets:
      - { file: data/incomes.csv, type: dataset, use: approval, name: ${name} }
`,
  );
}

beforeAll(async () => {
  mkdirSync(join(folder, 'data'));
  stack = await startStack({ port: 0, simulator: false });
  const env = { CMS_SERVER: stack.baseUrl };
  alice = cmsIn(join(folder, 'alice'), { env });
  bob = cmsIn(join(folder, 'bob'), { env });
  writeSshKeys(join(folder, 'alice'));
  writeSshKeys(join(folder, 'bob'));
  await alice('login', '--local', '--user', 'alice', '--role', 'creator');
  await bob('login', '--local', '--user', 'bob', '--role', 'dataset_provider');
});
afterAll(async () => {
  await stack.stop();
  rmSync(folder, { recursive: true });
});

describe('cms init', () => {
  it('tells a party to wait for the owner, then sets up the part of each party', async () => {
    write('Mean income');
    expect(await bob('init', file)).toMatchObject({
      exitCode: 5,
      stderr: `alice has not created the computation "Incomes" yet, and must type this first.\nNext: cms init ${file}\n`,
    });
    expect(outcomes(await init(alice))).toEqual(['computation created', 'algorithm uploaded and linked', 'key uploaded']);
    expect(outcomes(await init(bob))).toEqual(['computation unchanged', 'dataset uploaded and linked', 'key uploaded']);
  });

  it('changes nothing when it is repeated', async () => {
    const before = await alice('events', '--json');
    expect(outcomes(await init(alice))).toEqual(['computation unchanged', 'algorithm unchanged', 'key unchanged']);
    expect(outcomes(await init(bob))).toEqual(['computation unchanged', 'dataset unchanged', 'key unchanged']);
    expect(await alice('events', '--json')).toEqual(before);
    const { total } = JSON.parse((await alice('asset', 'list', '--json')).stdout) as { total: number };
    expect(total).toBe(2);
  });

  it('carries over what has changed in the file: fields by the owner, files and keys by their party', async () => {
    write('Median income', 'a\n2\n');
    expect(outcomes(await init(bob))).toEqual([
      'computation differs from the file: description',
      'dataset uploaded and linked; replaces the previous one',
      'key unchanged',
    ]);
    writeSshKeys(join(folder, 'alice'));
    expect(outcomes(await init(alice))).toEqual([
      'computation changed: description',
      'algorithm unchanged',
      'key uploaded; replaces the previous key',
    ]);
    const shown = await alice('computation', 'show');
    expect(shown.stdout).toContain('Median income');
    expect(shown.stdout.match(/incomes\.csv/g)).toHaveLength(1);
  });

  it('carries over the name of an algorithm, and names the dataset of the party that is linked, but no more in the file', async () => {
    write('Median income', 'a\n2\n', { algorithm: 'median.py', name: 'salaries.csv' });
    const [, algorithm, ...others] = outcomes(await init(alice));
    expect([algorithm, ...others]).toEqual(['algorithm changed: file_name', 'key unchanged']);
    const { computation, items } = await init(bob);
    expect(outcomes({ computation, items })).toEqual([
      'computation unchanged',
      'dataset uploaded and linked',
      expect.stringMatching(/^dataset linked, but not in the file\. To unlink it: cms asset unlink \S+ \S+$/),
      'key unchanged',
    ]);
    expect(items[2]).toMatchObject({ name: 'incomes.csv' });
    const [, unlink = ''] = /cms (.*)/.exec(items[2]?.outcome ?? '') ?? [];
    expect(await bob(...unlink.split(' '))).toMatchObject({ exitCode: 0 });
    const { stdout } = await alice('computation', 'show');
    expect(stdout.match(/\S+\.(csv|py)/g)).toEqual(expect.arrayContaining(['median.py', 'salaries.csv']));
    expect(stdout).not.toContain('incomes.csv');
  });

  it('does not undo a change of an asset that someone makes at the same time', async () => {
    write('Median income', 'a\n2\n', { algorithm: 'median.py', name: 'salaries.csv' });
    const { computation } = await init(alice);
    const place = { baseUrl: stack.baseUrl, domain: 'd1', token: await stack.token('alice', ['d1:creator']) };
    const other = createClient(place);
    const racing = createClient({
      ...place,
      fetch: async (request) => {
        if (request.method === 'PUT') {
          const { assets } = await other.getComputation({ id: computation });
          const { id = '' } = assets.find(({ asset_type }) => asset_type === 'algorithm') ?? {};
          const asset = await other.getAsset({ id });
          await other.updateAsset({ id, body: { asset: { ...asset, mime_type: 'text/x-python' } } });
        }
        return await fetch(request);
      },
    });
    const planned = { file: 'mean.py', type: 'algorithm', description: 'changed' } as const;
    const given = { planned, file: join(folder, 'data', 'mean.py') };
    const sessionUntil = (signal: AbortSignal) =>
      ({
        client: racing,
        user: 'alice',
        terminal: { showsProgress: false, signal },
        outages: { noteWith: () => undefined },
        typed: 'cms init',
      }) as unknown as Session;
    const sync = async (signal: AbortSignal) =>
      await (await planAsset(sessionUntil(signal), computation, given)).apply(false, computation);
    await expect(sync(new AbortController().signal)).rejects.toMatchObject({
      code: 'precondition_failed',
    });
    // Ctrl-C ends it while it hashes the file, before the change.
    await expect(sync(AbortSignal.abort())).rejects.toMatchObject({
      exitCode: 130,
    });
  });

  it('creates no computation for a file that names one which is not there', async () => {
    const named = join(folder, 'named.yaml');
    const id = '00000000-0000-8000-8000-000000000000';
    writeFileSync(named, `computation: { id: ${id}, name: Incomes, owner: alice }\nparties: { alice: }\n`);
    const before = await alice('computation', 'list', '--json');
    expect(await alice('init', named)).toEqual({
      exitCode: 5,
      stdout: '',
      stderr: expect.stringMatching(`The domain d1 has no computation ${id}\\. .*\\nNext: cms computation list\\n$`),
    });
    expect(await alice('computation', 'list', '--json')).toEqual(before);
  });

  it('names all files and the key that are not there before it makes anything, and the command that makes the first key', async () => {
    const dan = cmsIn(join(folder, 'dan'), { env: { CMS_SERVER: stack.baseUrl } });
    await dan('login', '--local', '--user', 'dan', '--role', 'creator');
    const late = join(folder, 'late.yaml');
    const party = (...files: string[]) =>
      `{ key: ~/.ssh/id_ed25519.pub, assets: [${files.map((each) => `{ file: ${each}, type: dataset }`).join(', ')}] }`;
    const writeLate = (...files: string[]) =>
      writeFileSync(late, `computation: { name: Late, owner: dan }\nparties: { dan: ${party(...files)} }\n`);
    writeLate('one.csv', 'data/incomes.csv', 'none/two.csv');
    const key = join(folder, 'dan/.ssh/id_ed25519');
    const noKey = `There is no file "${key}.pub".\n`;
    const [one, two] = ['one.csv', 'none/two.csv'].map((each) => `There is no file "${join(folder, each)}".\n`);
    expect(await dan('init', late)).toEqual({
      exitCode: 2,
      stdout: '',
      stderr: expect.stringMatching(new RegExp(`^${one}${two}${noKey}Next: ls ${folder}\\n$`)),
    });
    writeLate('data/incomes.csv');
    expect((await dan('init', late)).stderr).toMatch(new RegExp(`^${noKey}Next: cms key create ${key}\\n$`));
    expect((await dan('computation', 'list', '--owner', 'dan')).stdout).toBe('Nothing found.\n');
  });

  it('prints what it has done before an error', async () => {
    const eve = cmsIn(join(folder, 'eve'), { env: { CMS_SERVER: stack.baseUrl } });
    await eve('login', '--local', '--user', 'eve', '--role', 'creator');
    const wrong = join(folder, 'wrong.yaml');
    const writeWrong = (party: string) =>
      writeFileSync(wrong, `computation: { name: Wrong, owner: eve }\nparties: { eve: ${party} }\n`);
    writeWrong('{}');
    const { computation } = JSON.parse((await eve('init', wrong, '--yes', '--json')).stdout) as Done;
    writeFileSync(join(folder, 'data', 'other.py'), 'print(2)\n');
    await alice('asset', 'upload', join(folder, 'data', 'other.py'), '--type', 'algorithm', '--computation', computation);
    writeWrong('{ assets: [{ file: data/mean.py, type: algorithm }] }');
    const { exitCode, stdout, stderr } = await eve('init', wrong, '--yes');
    expect({ exitCode, stdout }).toEqual({ exitCode: 6, stdout: '' });
    const done = `^Uploads:\\n.*PART +NAME +OUTCOME\\ncomputation +Wrong +unchanged\\nComputation ${computation}\\n`;
    expect(stderr).toMatch(new RegExp(`${done}.*\\nNext: cms asset unlink ALGORITHM ${computation}\\n$`, 's'));
    const inJson = await eve('init', wrong, '--yes', '--json');
    expect(JSON.parse(inJson.stdout)).toEqual({
      computation,
      items: [{ subject: 'computation', name: 'Wrong', outcome: 'unchanged' }],
    });
  });

  it.each(['constructor', '__proto__'])('takes a party named %s, and gives nobody else its part', async (user) => {
    const other = join(folder, 'other.yaml');
    const cms = cmsIn(join(folder, user), { env: { CMS_SERVER: stack.baseUrl } });
    await cms('login', '--local', '--user', user, '--role', 'creator');
    writeFileSync(other, `computation: { name: Of ${user}, owner: ${user} }\nparties: { alice: }\n`);
    expect(outcomes(JSON.parse((await cms('init', other, '--yes', '--json')).stdout) as Done)).toEqual(['computation created']);
    writeFileSync(
      other,
      `computation: { name: Of ${user}, owner: ${user} }\nparties: { ${user}: { assets: [{ file: data/mean.py, type: algorithm }] } }\n`,
    );
    expect(outcomes(JSON.parse((await cms('init', other, '--yes', '--json')).stdout) as Done)).toEqual([
      'computation unchanged',
      'algorithm uploaded and linked',
    ]);
    writeFileSync(other, 'computation: { name: Incomes, owner: alice }\nparties: { alice: }\n');
    expect(await cms('init', other)).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('has the parties alice.') });
  });

  const mallory = () => cmsIn(join(folder, 'mallory'), { env: { CMS_SERVER: stack.baseUrl } });
  const study = join(folder, 'study');
  const givenFile = join(study, 'given.yaml');
  /** A file that another party has written for mallory's computation. */
  const give = (name: string, part: string, fields = '') => {
    mkdirSync(study, { recursive: true });
    writeFileSync(givenFile, `computation: { name: ${name}, owner: mallory${fields} }\nparties:\n  mallory:\n    ${part}\n`);
  };
  /** The computation of `give`, as mallory has it. */
  const take = async (...given: Parameters<typeof give>) => {
    await mallory()('login', '--local', '--user', 'mallory', '--role', 'administrator');
    if (!existsSync(join(folder, 'mallory/.ssh'))) writeSshKeys(join(folder, 'mallory'));
    give(...given);
    writeFileSync(join(study, 'data.csv'), 'a\n1\n');
    expect(await mallory()('init', givenFile, '--yes')).toMatchObject({ exitCode: 0 });
  };
  const assetsOf = async (name: string) => {
    const shown = await mallory()('computation', 'show', name, '--json');
    return (JSON.parse(shown.stdout) as { assets: { id: string; file_name: string }[] }).assets;
  };

  it('reads nothing hidden or outside the folder of the file, unless allowed', async () => {
    const cms = mallory();
    await cms('login', '--local', '--user', 'mallory', '--role', 'administrator');
    mkdirSync(join(study, '.hidden'), { recursive: true });
    writeFileSync(join(folder, 'secret.csv'), 'secret\n');
    writeFileSync(join(study, '.hidden', 'a.csv'), 'secret\n');
    writeFileSync(join(study, '.env'), 'SECRET=1\n');
    for (const [name, target] of [
      ['file', '../secret.csv'],
      ['folder', '..'],
      ['key.pub', '../bob/.ssh/id_ed25519.pub'],
    ] as const) {
      symlinkSync(target, join(study, name));
    }
    writeSshKeys(join(folder, 'mallory'));
    const paths = [
      '../secret.csv',
      join(folder, 'secret.csv'),
      '~/.ssh/id_ed25519',
      '~/.ssh/id_ed25519.pub',
      'file',
      'folder/secret.csv',
    ];
    for (const path of [...paths, '.env', '.hidden/a.csv', './x/../../secret.csv', '../study/../secret.csv', '/etc/passwd']) {
      give('Outside', `assets: [{ file: ${path}, type: dataset, content_access: domain }]`);
      expect([path, await cms('init', givenFile, '--yes')]).toMatchObject([
        path,
        { exitCode: 2, stderr: expect.stringMatching(/outside the folder of/) },
      ]);
    }
    for (const key of ['../bob/.ssh/id_ed25519.pub', 'key.pub', '~/.ssh/../../bob/.ssh/id_ed25519.pub', '/etc/passwd']) {
      give('Outside', `key: ${key}`);
      expect([key, await cms('init', givenFile, '--yes')]).toMatchObject([
        key,
        { exitCode: 2, stderr: expect.stringMatching(/outside the folder of/) },
      ]);
    }
    expect((await cms('computation', 'list', '--owner', 'mallory')).stdout).toBe('Nothing found.\n');
    give('Outside', 'assets: [{ file: ../secret.csv, type: dataset }]');
    expect(await cms('init', givenFile, '--yes', '--allow-outside')).toMatchObject({ exitCode: 0 });
  });

  it('uploads no private key, in whatever form, and neither does asset upload', async () => {
    const cms = mallory();
    const pair = (format: 'pem' | 'der', type: 'pkcs8' | 'sec1') =>
      generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: format as 'pem', type });
    const pem = String(pair('pem', 'pkcs8'));
    const openssh = readFileSync(join(folder, 'mallory/.ssh/id_ed25519'));
    const jwk = JSON.stringify(generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' }), null, 2);
    const base64 = (content: Buffer | string) => Buffer.from(content).toString('base64').replaceAll(/.{64}/g, '$&\n');
    const utf16 = Buffer.from(base64(pem), 'utf16le');
    const plain = [pem, `\ufeff${pem}`, Buffer.from(pem, 'utf16le'), openssh, pair('der', 'pkcs8'), pair('der', 'sec1'), jwk];
    const dresses = [...plain, ...plain.map(base64), base64(base64(pem)), Buffer.from(pem).toString('hex'), utf16];
    for (const [index, content] of dresses.entries()) {
      writeFileSync(join(study, 'data.csv'), content);
      give('Keys', 'assets: [{ file: data.csv, type: dataset }]');
      for (const line of [
        ['init', givenFile, '--yes'],
        ['asset', 'upload', '--type', 'dataset', join(study, 'data.csv')],
      ]) {
        expect([index, await cms(...line)]).toMatchObject([
          index,
          { exitCode: 2, stderr: /is a private key, which is never content/ },
        ]);
      }
    }
  });

  it('lists what it uploads, where that is and who may read it, and asks', async () => {
    writeFileSync(join(study, 'data.csv'), 'a\n1\n');
    give(
      'Asked',
      'key: ~/.ssh/id_ed25519.pub\n    assets: [{ file: data.csv, name: innocent.csv, type: dataset, content_access: domain }]',
    );
    const list = expect.stringMatching(
      /Uploads:\n  dataset \S+\/study\/data\.csv \(4 bytes\): every member of the domain d1 may read it\n  public key ~\/\.ssh\/id_ed25519\.pub \(SHA256:\S+\): every party sees it\n/,
    );
    const asked: string[] = [];
    const answering = (answer: string) =>
      cmsIn(join(folder, 'mallory'), {
        env: { CMS_SERVER: stack.baseUrl },
        ask: async (question) => {
          asked.push(question);
          return answer;
        },
      });
    for (const line of [
      ['init', givenFile],
      ['init', givenFile, '--json'],
    ]) {
      expect(await mallory()(...line)).toMatchObject({ exitCode: 2, stdout: '' });
    }
    expect((await mallory()('init', givenFile)).stderr).toEqual(list);
    expect(await answering('n')('init', givenFile)).toMatchObject({ exitCode: 1, stderr: list });
    expect((await mallory()('computation', 'show', 'Asked')).exitCode).toBe(5);
    expect(await answering('y')('init', givenFile)).toMatchObject({ exitCode: 0, stderr: list });
    expect(asked).toEqual(['Upload this? [y/N] ', 'Upload this? [y/N] ']);
    expect(await mallory()('init', givenFile)).toMatchObject({ exitCode: 0 }); // nothing is left to upload
  });

  it('lowers nothing unless asked on a terminal', async () => {
    await take('Lowered', 'assets: [{ file: data.csv, name: innocent.csv, type: dataset, content_access: domain }]');
    const client = createClient({
      baseUrl: stack.baseUrl,
      domain: 'd1',
      token: await stack.token('mallory', ['d1:administrator']),
    });
    const id = (await assetsOf('Lowered'))[0]?.id ?? '';
    const { asset: _, ...asset } = await client.getAsset({ id });
    await client.updateAsset({ id, body: { asset: { ...asset, content_access: 'creator', use: 'approval' } } });
    const { id: computation, ...fields } = JSON.parse((await mallory()('computation', 'show', 'Lowered', '--json')).stdout) as {
      id: string;
      name: string;
    };
    const agent_config = { attested_tls: true, server_ca_file: '/ca.pem' };
    const result_review = { reviewers: ['rita', 'rob'], needed: 2 };
    await client.updateComputation({
      id: computation,
      body: { ...fields, approval: 'all', consumers: ['bob'], providers: ['bob', 'mallory'], result_review, agent_config },
    });
    const protectedNow = async () => {
      const { approval, consumers, providers, agent_config: config, ...rest } = await client.getComputation({ id: computation });
      const [found] = await assetsOf('Lowered');
      const { use, content_access, checksum } = await client.getAsset({ id: found?.id ?? '' });
      const trusted = [config.attested_tls, config.server_ca_file];
      return [approval, consumers, providers, rest.result_review, ...trusted, use, content_access, checksum];
    };
    const before = await protectedNow();
    expect(before.slice(0, -1)).toEqual([
      'all',
      ['bob'],
      ['bob', 'mallory'],
      result_review,
      true,
      '/ca.pem',
      'approval',
      'creator',
    ]);
    const lowering =
      ', approval: none, consumers: [bob, eve], providers: [mallory, eve], result_review: { reviewers: [rob, rita], needed: 1 }, agent_config: { attested_tls: false, server_ca_file: /theirs.pem }';
    give(
      'Lowered',
      'assets: [{ file: data.csv, name: innocent.csv, type: dataset, use: open, content_access: domain }]',
      lowering,
    );
    for (const line of [['--yes'], [], ['--yes', '--json']]) {
      const { exitCode, stdout } = await mallory()('init', givenFile, ...line);
      expect([exitCode, stdout]).toEqual([0, expect.stringContaining('stays: ')]);
      expect(await protectedNow()).toEqual(before);
    }
    for (const part of ['use: open, content_access: domain', '']) {
      writeFileSync(join(study, 'data.csv'), `a\n${part}\n`); // another content becomes another asset
      give('Lowered', `assets: [{ file: data.csv, name: innocent.csv, type: dataset${part && `, ${part}`} }]`, lowering);
      expect(await mallory()('init', givenFile, '--yes')).toMatchObject({ exitCode: 0 });
      expect((await protectedNow()).slice(0, -1)).toEqual(before.slice(0, -1));
    }
    const yes = cmsIn(join(folder, 'mallory'), { env: { CMS_SERVER: stack.baseUrl }, ask: async () => 'y' });
    give('Lowered', 'assets: [{ file: data.csv, name: innocent.csv, type: dataset, content_access: domain }]');
    expect(await yes('init', givenFile)).toMatchObject({ exitCode: 0 });
    expect((await protectedNow()).at(-2)).toBe('domain');
  });

  it('keeps the digits of a user, and says so if the caller or the owner has no part', async () => {
    const user = '107691503500061507151';
    const cms = cmsIn(join(folder, 'numeric'), { env: { CMS_SERVER: stack.baseUrl } });
    await cms('login', '--local', '--user', user, '--role', 'creator');
    const numeric = join(study, 'numeric.yaml');
    writeFileSync(
      numeric,
      `computation: { name: Digits, owner: "${user}" }\nparties:\n  ${user}:\n    assets: [{ file: data.csv, type: dataset }]\n`,
    );
    expect(outcomes(JSON.parse((await cms('init', numeric, '--yes', '--json')).stdout) as Done)).toEqual([
      'computation created',
      'dataset uploaded and linked; runs need your approval',
    ]);
    writeFileSync(numeric, `computation: { name: Digits, owner: "${user}" }\nparties:\n  107691503500061507152:\n`);
    expect((await cms('init', numeric)).stderr).toContain(`has no part for the owner ${user}.\n`);
  });

  it.each([
    ['Latin-1', Buffer.from('computation:\n  name: Caf\u00e9\n', 'latin1'), /x\.yaml:2:1: This is not UTF-8\. .* Latin-1 /],
    ['UTF-16', Buffer.from('\ufeffcomputation:\n', 'utf16le'), /x\.yaml:1:1: This is not UTF-8\. .* UTF-16\./],
  ])('refuses a file in %s', async (_, content, message) => {
    writeFileSync(join(study, 'x.yaml'), content);
    expect(await alice('init', join(study, 'x.yaml'))).toMatchObject({ exitCode: 2, stderr: expect.stringMatching(message) });
  });

  it('refuses a user who has no part in the collaboration', async () => {
    const carol = cmsIn(join(folder, 'carol'), { env: { CMS_SERVER: stack.baseUrl } });
    await carol('login', '--local', '--user', 'carol');
    expect(await carol('init', file)).toEqual({
      exitCode: 2,
      stdout: '',
      stderr: `You are carol, but ${file} has the parties alice, bob. If one of them is you, name the profile of that login: --profile NAME. If not, one of them adds you to the file.\nNext: cms whoami\n`,
    });
  });
});

describe('the file of a collaboration', () => {
  it.each([
    ['a merge key', '{ <<: {}, name: x, owner: alice }\nparties: {}', 'Merge keys (<<) are not supported'],
    ['a name of two lines', '{ name: "a\\nb", owner: alice }\nparties: {}', 'without line ends'],
    [
      'a party that is the owner but for a capital',
      '{ name: x, owner: alice }\nparties: { Alice: }',
      'The computation names "alice"',
    ],
    [
      'a reviewer who gets the result',
      '{ name: x, owner: alice, consumers: [bob], result_review: { reviewers: [rita, bob], needed: 1 } }\nparties: {}',
      'x.yaml:1:92: computation.result_review.reviewers.1: bob gets the result, and cannot review it.',
    ],
    [
      'a review without named consumers',
      '{ name: x, owner: alice, result_review: { reviewers: [rita], needed: 1 } }\nparties: {}',
      'The consumers of a reviewed result are named. Add consumers.',
    ],
    [
      'more reviewers needed than named',
      '{ name: x, owner: alice, consumers: [bob], result_review: { reviewers: [rita], needed: 2 } }\nparties: {}',
      'computation.result_review.needed: Expected at most the number of reviewers.',
    ],
  ])('is refused with %s', (_, rest, message) => {
    expect(() => parseCollaboration(`computation: ${rest}\n`, 'x.yaml')).toThrow(message);
  });

  it('can begin as what cms init --example prints', async () => {
    const { stdout } = await alice('init', '--example');
    expect(Object.keys(parseCollaboration(stdout, 'example.yaml').parties)).toEqual(['alice', 'bob']);
    expect(stdout).toBe(exampleCollaboration);
    const inJson = await alice('init', '--example', '--json');
    expect(parseCollaboration(inJson.stdout, 'example.json')).toEqual(JSON.parse(inJson.stdout));
    expect(JSON.parse(inJson.stdout)).toEqual(parseCollaboration(stdout, 'example.yaml'));
  });

  it('creates and changes an asset that the agent fetches, and replaces it by a file', async () => {
    const checksum = createHash('sha3-256').update('a\n1\n').digest('hex');
    const dataset = (fields: string) =>
      writeFileSync(
        file,
        `computation: { name: Fetched, owner: alice }\nparties:\n  alice:\n    assets:\n      - { type: dataset, ${fields} }\n`,
      );
    const at = (host: string) => `source: { url: 'https://${host}/incomes.csv' }, checksum: ${checksum}`;
    dataset(at('a.example.com'));
    expect(outcomes(await init(alice))).toEqual(['computation created', 'dataset created and linked; runs need your approval']);
    expect(outcomes(await init(alice))).toEqual(['computation unchanged', 'dataset unchanged']);
    dataset(`${at('b.example.com')}, decompress: true`);
    const { computation, items } = await init(alice);
    expect(items[1]?.outcome).toBe('changed: source, decompress');
    writeFileSync(join(folder, 'data', 'incomes.csv'), 'a\n1\n');
    dataset('file: data/incomes.csv');
    expect(outcomes(await init(alice))[1]).toBe('dataset uploaded and linked; replaces the previous one');
    const added = await alice(
      'asset',
      'add',
      'docker://example.com/mean:1',
      '--checksum',
      checksum,
      '--type',
      'algorithm',
      ...[...['--name', 'mean.py', '--algo-type', 'python', '--algo-arg', '-n', '--algo-arg', '3', '--computation', computation]],
    );
    expect(added).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining(
        'fetched by the agent from docker://example.com/mean:1\n  run as python\n  arguments ["-n","3"]\n',
      ) as string,
    });
  });

  it('is exported by cms export: cms init changes nothing with it, and makes the same computation where it is gone', async () => {
    const source = { url: 'https://a.example.com/mean.py', kbs_resource_path: 'default/key/mean' };
    const policy = { ...strictPolicy, allow_debug: true };
    const fetched = { kbs: { url: 'https://kbs.example.com' }, algo_type: 'python', algo_args: ['-n', '3'] };
    const algorithm = { source, checksum: 'ab'.repeat(32), type: 'algorithm', name: 'mean.py', ...fetched };
    const dataset = { file: 'data.csv', type: 'dataset', mime_type: 'text/csv', use: 'approval', content_access: 'domain' };
    const computation = {
      name: 'Moved \u202e: # "1"',
      description: '2026-01-01\n- no',
      owner: 'alice',
      approval: 'all_signed',
      log_access: 'parties',
      consumers: ['0123'],
      providers: ['bob'],
      attestation_policy: policy,
      result_review: { reviewers: ['rita', 'rob'], needed: 1 },
      agent_config: { attested_tls: true, cert_file: '/etc/agent.pem' },
    };
    const written = { computation, parties: { alice: { assets: [algorithm, { ...dataset, description: 'd' }] } } };
    const here = join(folder, 'moved');
    mkdirSync(here);
    const moved = join(here, 'moved.yaml');
    writeFileSync(join(here, 'data.csv'), 'moved\n');
    writeFileSync(moved, JSON.stringify(written));
    const init = async () => JSON.parse((await alice('init', moved, '--yes', '--json')).stdout) as Done;
    const { computation: first } = await init();
    const { stdout } = await alice('export', first);
    expect(stdout).not.toMatch(/[\p{Cf}]/u);
    writeFileSync(moved, stdout);
    expect(parseCollaboration(stdout, moved)).toEqual(parseCollaboration(JSON.stringify(written), moved));
    expect(outcomes(await init())).toEqual(['computation unchanged', 'algorithm unchanged', 'dataset unchanged']);
    await alice('computation', 'delete', first, '--yes');
    const { computation: second } = await init();
    expect((await alice('export', second)).stdout).toBe(stdout);
    expect(JSON.parse((await alice('export', second, '--json')).stdout)).toEqual(written);
    await alice('computation', 'update', second, '--no-attestation-policy');
    const policyFile = join(here, 'policy.yaml');
    for (const [text, result] of [
      [
        JSON.stringify({ ...policy, measurements: ['x'] }),
        { exitCode: 2, stderr: expect.stringMatching(/: measurements: Expected 96/) },
      ],
      [
        `platforms: [tdx]\nmeasurements: ['${'cd'.repeat(48)}']\n`,
        { exitCode: 0, stdout: expect.stringContaining('Platforms: tdx\n') },
      ],
    ] as const) {
      writeFileSync(policyFile, text);
      expect(await alice('computation', 'update', second, '--attestation-policy', policyFile)).toMatchObject(result);
    }
    const list = JSON.parse(
      (await alice('asset', 'declare', join(here, 'data.csv'), '--type', 'dataset', '--json')).stdout,
    ) as object;
    expect(list).toMatchObject({ file_name: 'data.csv', state: 'pending', size: 0, checksum: expect.stringMatching(/^\w{64}$/) });
  });

  it('is named with one line and column if it is no YAML', async () => {
    writeFileSync(join(folder, 'picture.yaml'), `a: b\n${'\t{]: - "x\n'.repeat(30)}`);
    const { exitCode, stderr } = await alice('init', join(folder, 'picture.yaml'));
    expect({ exitCode, lines: stderr.split('\n') }).toEqual({
      exitCode: 2,
      lines: [expect.stringMatching(/picture\.yaml:\d+:\d+: This is not YAML: [^.]+\.$/), 'Next: cms init --example', ''],
    });
  });

  it.each([
    ['an unknown field', 'computation:\n  name: A\n  onwer: a\n', ['x.yaml:3:3: computation.onwer: Unknown field onwer.']],
    [
      'a value that is not allowed',
      'computation: { name: A, owner: a }\nparties:\n  a:\n    assets:\n      - file: b\n        type: data\n',
      ['x.yaml:6:9: parties.a.assets.0.type: Expected algorithm or dataset.'],
    ],
    [
      'two datasets of one name',
      'computation: { name: A, owner: a }\nparties:\n  a: { assets: [{ file: b/c, type: dataset }] }\n  d:\n    assets:\n      - { file: c, type: dataset }\n',
      ['x.yaml:6:9: parties.d.assets.0: a already brings the dataset c.'],
    ],
    [
      'a private key that every reader would see',
      'computation:\n  name: A\n  owner: a\n  agent_config:\n    cert_file: |\n      -----BEGIN PRIVATE KEY-----\nparties: {}\n',
      ['x.yaml:5:5: computation.agent_config.cert_file: This contains a private key, which every reader would see.'],
    ],
    [
      'what the service would refuse',
      `computation: { name: A, owner: system, agent_config: { server_key: ${'x'.repeat(16_385)} } }
parties:
  a:
    assets:
      - { file: b, type: dataset, mime_type: bad type }
      - { file: b, type: dataset, name: b/c }
      - { file: 'd\\\\e', type: dataset }
      - { file: f, type: dataset, description: ${'x'.repeat(4_001)} }
`,
      [
        'x.yaml:1:56: computation.agent_config.server_key: Expected a string of 0 to 16384 characters, not 16385.',
        'x.yaml:1:25: computation.owner: Expected a user. This name is reserved',
        'x.yaml:5:35: parties.a.assets.0.mime_type: Expected a media type such as text/csv.',
        'x.yaml:6:35: parties.a.assets.1.name: Expected a file name without slashes',
        'x.yaml:7:11: parties.a.assets.2.file: The name of this file is not allowed. Add another one as name.',
        'x.yaml:8:35: parties.a.assets.3.description: Expected a string of 0 to 4000 characters, not 4001.',
      ],
    ],
    [
      'what agents cannot fetch',
      `computation: { name: A, owner: a }
parties:
  a:
    assets:
      - { source: { url: 's3://bucket/b' }, checksum: ${'ab'.repeat(32)}, type: dataset }
      - { file: b, type: dataset, decompress: true }
      - { source: { url: 'https://c/d' }, type: dataset }
`,
      [
        'x.yaml:5:21: parties.a.assets.0.source.url: Agents read s3:// addresses with the client of Google Cloud Storage',
        'x.yaml:6:35: parties.a.assets.1.decompress: Expected `source` too',
        'x.yaml:7:9: parties.a.assets.2: Expected file to upload one, or source and checksum',
      ],
    ],
    ['a missing field', 'computation: { name: A, owner: a }\n', ['x.yaml:1:1: parties: A value is required.']],
    ['broken YAML', 'computation: [\n', ['x.yaml:2:1:']],
    [
      'a pattern without quotes',
      'computation: { name: A, owner: a }\nparties:\n  a:\n    assets:\n      - file: *.csv\n',
      ['x.yaml:5:15: A text that begins with * needs quotes.'],
    ],
    ['a key that occurs twice', 'parties:\n  1:\n  "1":\n', ['x.yaml:3:3: 1 occurs twice.']],
    ['a number as a text', 'computation: { name: 1, owner: a }\nparties: {}\n', ['name: Expected a text: write it in quotes.']],
    ['a tag', 'computation: { name: !secret A, owner: a }\nparties: {}\n', ['x.yaml:1:22: Unresolved tag: !secret']],
    [
      'what repeats itself too often',
      `a: &a [x, x]\n${'bcdefgh'
        .split('')
        .map((name, at) => `${name}: &${name} [${`*${'abcdefg'[at] ?? ''}, `.repeat(9)}]\n`)
        .join('')}`,
      ['x.yaml: It repeats itself too often.'],
    ],
    ['a line of its own in a key', '"x\\nNext: rm": 1\n', ['x.yaml:1:1: x Next: rm: Unknown field x Next: rm.']],
    ['an empty file', '', ['x.yaml:1:1: Expected the fields computation and parties.']],
  ])('names %s with its line and field', (_, text, mistakes) => {
    const read = () => parseCollaboration(text, 'x.yaml');
    for (const mistake of mistakes) expect(read).toThrow(mistake);
  });
});
