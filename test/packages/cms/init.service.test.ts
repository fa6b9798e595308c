import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from 'computation-management-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Context } from '../../../packages/cms/context/context.ts';
import { exampleCollaboration, parseCollaboration } from '../../../packages/cms/collaboration/collaboration.ts';
import { syncAsset } from '../../../packages/cms/collaboration/sync.ts';
import { type Stack, startStack } from '../../../local/stack.ts';
import { cmsIn } from './fake-terminal.ts';
import { writeSshKeys } from './ssh-keys.ts';

const folder = mkdtempSync(join(tmpdir(), 'cms-'));
const file = join(folder, 'study.yaml');
let stack: Stack;
let alice: ReturnType<typeof cmsIn>;
let bob: ReturnType<typeof cmsIn>;

interface Done {
  computation: string;
  steps: { subject: string; name: string; outcome: string }[];
}

const init = async (cms: ReturnType<typeof cmsIn>) => {
  const { exitCode, stdout, stderr } = await cms('init', file, '--json');
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  return JSON.parse(stdout) as Done;
};
const outcomes = ({ steps }: Done) => steps.map(({ subject, outcome }) => `${subject} ${outcome}`);

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
    const { computation, steps } = await init(bob);
    expect(outcomes({ computation, steps })).toEqual([
      'computation unchanged',
      'dataset uploaded and linked',
      expect.stringMatching(/^dataset linked, but not in the file\. To unlink it: cms asset unlink \S+ \S+$/),
      'key unchanged',
    ]);
    expect(steps[2]).toMatchObject({ name: 'incomes.csv' });
    const [, unlink = ''] = /cms (.*)/.exec(steps[2]?.outcome ?? '') ?? [];
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
    const connection = { client: racing, server: stack.baseUrl, domain: 'd1', user: 'alice', profile: undefined };
    const planned = { file: 'mean.py', type: 'algorithm', description: 'changed' } as const;
    const given = { planned, file: join(folder, 'data', 'mean.py') };
    const contextUntil = (signal: AbortSignal) =>
      ({
        terminal: { showsProgress: false, signal },
        outages: { noteWith: () => undefined },
        typed: 'cms init',
      }) as unknown as Context;
    await expect(syncAsset(contextUntil(new AbortController().signal), connection, computation, given)).rejects.toMatchObject({
      code: 'precondition_failed',
    });
    // Ctrl-C ends it while it hashes the file, before the change.
    await expect(syncAsset(contextUntil(AbortSignal.abort()), connection, computation, given)).rejects.toMatchObject({
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
    expect((await dan('init', late)).stderr).toMatch(new RegExp(`^${noKey}Next: ssh-keygen -t ed25519 -f ${key}\\n$`));
    expect((await dan('computation', 'list', '--owner', 'dan')).stdout).toBe('Nothing found.\n');
  });

  it('prints what it has done before an error', async () => {
    const eve = cmsIn(join(folder, 'eve'), { env: { CMS_SERVER: stack.baseUrl } });
    await eve('login', '--local', '--user', 'eve', '--role', 'creator');
    const wrong = join(folder, 'wrong.yaml');
    const writeWrong = (party: string) =>
      writeFileSync(wrong, `computation: { name: Wrong, owner: eve }\nparties: { eve: ${party} }\n`);
    writeWrong('{}');
    const { computation } = JSON.parse((await eve('init', wrong, '--json')).stdout) as Done;
    writeFileSync(join(folder, 'data', 'other.py'), 'print(2)\n');
    await alice('asset', 'upload', join(folder, 'data', 'other.py'), '--type', 'algorithm', '--computation', computation);
    writeWrong('{ assets: [{ file: data/mean.py, type: algorithm }] }');
    const { exitCode, stdout, stderr } = await eve('init', wrong);
    expect({ exitCode, stdout }).toEqual({ exitCode: 6, stdout: '' });
    const done = `^PART +NAME +OUTCOME\\ncomputation +Wrong +unchanged\\nComputation ${computation}\\n`;
    expect(stderr).toMatch(new RegExp(`${done}.*\\nNext: cms computation show ${computation}\\n$`));
    const inJson = await eve('init', wrong, '--json');
    expect(JSON.parse(inJson.stdout)).toEqual({
      computation,
      steps: [{ subject: 'computation', name: 'Wrong', outcome: 'unchanged' }],
    });
  });

  it.each(['constructor', '__proto__'])('takes a party named %s, and gives nobody else its part', async (user) => {
    const other = join(folder, 'other.yaml');
    const cms = cmsIn(join(folder, user), { env: { CMS_SERVER: stack.baseUrl } });
    await cms('login', '--local', '--user', user, '--role', 'creator');
    writeFileSync(other, `computation: { name: Of ${user}, owner: ${user} }\nparties: { alice: }\n`);
    expect(outcomes(JSON.parse((await cms('init', other, '--json')).stdout) as Done)).toEqual(['computation created']);
    writeFileSync(
      other,
      `computation: { name: Of ${user}, owner: ${user} }\nparties: { ${user}: { assets: [{ file: data/mean.py, type: algorithm }] } }\n`,
    );
    expect(outcomes(JSON.parse((await cms('init', other, '--json')).stdout) as Done)).toEqual([
      'computation unchanged',
      'algorithm uploaded and linked',
    ]);
    writeFileSync(other, 'computation: { name: Incomes, owner: alice }\nparties: { alice: }\n');
    expect(await cms('init', other)).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('has the parties alice.') });
  });

  it('refuses a user who has no part in the collaboration', async () => {
    const carol = cmsIn(join(folder, 'carol'), { env: { CMS_SERVER: stack.baseUrl } });
    await carol('login', '--local', '--user', 'carol');
    expect(await carol('init', file)).toEqual({
      exitCode: 2,
      stdout: '',
      stderr: `You are carol, but ${file} has the parties alice, bob.\nNext: cms login --local --user alice\n`,
    });
  });
});

describe('the file of a collaboration', () => {
  it('can begin as what cms init --example prints', async () => {
    const { stdout } = await alice('init', '--example');
    expect(Object.keys(parseCollaboration(stdout, 'example.yaml').parties)).toEqual(['alice', 'bob']);
    expect(stdout).toBe(exampleCollaboration);
    const inJson = await alice('init', '--example', '--json');
    expect(parseCollaboration(inJson.stdout, 'example.json')).toEqual(JSON.parse(inJson.stdout));
    expect(JSON.parse(inJson.stdout)).toEqual(parseCollaboration(stdout, 'example.yaml'));
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
    ['a missing field', 'computation: { name: A, owner: a }\n', ['x.yaml:1:1: parties: A value is required.']],
    ['broken YAML', 'computation: [\n', ['x.yaml:2:1:']],
    ['an empty file', '', ['x.yaml:1:1: Expected the fields computation and parties.']],
  ])('names %s with its line and field', (_, text, mistakes) => {
    const read = () => parseCollaboration(text, 'x.yaml');
    for (const mistake of mistakes) expect(read).toThrow(mistake);
  });
});
