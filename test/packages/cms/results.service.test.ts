import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { configurationOf } from 'computation-management-formats/consent';
import type { AttestationPolicy } from 'computation-management-formats/attestation';
import { canonicalDigest } from 'computation-management-formats/digests';
import { checkAuthorization } from 'computation-management-verify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Stack, startStack } from '../../../local/stack.ts';
import { startAnsweringServer } from '../../support/answering-server.ts';
import { strictPolicy } from '../../support/strict-policy.ts';
import { honest, sent, verify } from '../verify/authorization-lies.ts';
import { cmsIn } from './fake-terminal.ts';

const folder = mkdtempSync(join(tmpdir(), 'cms-'));
let stack: Stack;
const users: Record<string, ReturnType<typeof cmsIn>> = {};

/** Runs a command of a user, which must succeed. */
async function done(user: string, ...args: string[]) {
  const found = await users[user]?.(...args);
  expect([found?.exitCode, found?.stderr]).toEqual([0, expect.any(String)]);
  return { stdout: '', stderr: '', ...found };
}

beforeAll(async () => {
  stack = await startStack({ port: 0, simulator: true });
  for (const user of ['alice', 'rita', 'carol']) {
    const home = join(folder, user);
    mkdirSync(home);
    users[user] = cmsIn(home, { env: { CMS_SERVER: stack.baseUrl } });
    await done(user, 'login', '--local', '--user', user);
    await done(user, 'key', 'create', join(home, 'key'));
  }
  writeFileSync(join(folder, 'algorithm.py'), 'print(1)');
  writeFileSync(join(folder, 'result.zip'), 'species,count\nAdelie,152\n');
});
afterAll(async () => {
  await stack.stop();
  rmSync(folder, { recursive: true });
});

/** A completed run whose result rita reviews for carol. Returns the arguments that name its computation. */
async function reviewed(name: string): Promise<string> {
  const id = await ready(name, ['--consumer', 'carol', '--reviewer', 'rita']);
  await done('alice', 'run', id, '--cvm', `sim-${name}`, '--watch');
  return id;
}

const underReview = ['--consumer', 'carol', '--reviewer', 'rita', '--approval', 'all_signed'];

/** A computation of alice that can be run, or approved first. `provider` brings the algorithm. */
async function ready(name: string, options: string[] = [], provider = 'alice'): Promise<string> {
  const { stdout } = await done('alice', 'computation', 'create', name, ...options, '--json');
  const { id } = JSON.parse(stdout) as { id: string };
  await done(
    provider,
    'asset',
    'upload',
    join(folder, 'algorithm.py'),
    '--type',
    'algorithm',
    '--computation',
    id,
    '--name',
    name,
  );
  for (const user of ['alice', 'rita', 'carol']) await done(user, 'key', 'upload', join(folder, user, 'key.pub'), id);
  return id;
}

describe('cms review', () => {
  it(
    'checks the file, hands it in and releases it, signed, and the consumer gets it with its statement',
    { timeout: 120_000 },
    async () => {
      const id = await reviewed('one');
      const early = await users['carol']?.('result', id);
      expect(early).toMatchObject({
        exitCode: 6,
        stderr: expect.stringContaining('no reviewer has handed it in. Its reviewers are rita.'),
      });
      expect((await done('rita', 'todo')).stdout).toMatch(
        /Review the result of one\n {2}From alice, .+\n {4}cms review \S+ --run \S+ --key /,
      );

      const check = `sh -c 'cat "$0"; echo; echo seen >&2; exit 3'`;
      const args = ['review', id, '--file', join(folder, 'result.zip'), '--key', join(folder, 'rita/key')];
      const failing = await users['rita']?.(...args, '--check', check, '--release');
      expect(failing).toMatchObject({ exitCode: 2, stderr: expect.stringMatching(/SHA3-256 [0-9a-f]{64}\n[^]*Adelie,152/) });
      expect(await users['carol']?.('result', id)).toEqual(early);
      const { stdout } = await done('rita', ...args, '--check', check, '--release', '--note', 'Fine.', '--yes');
      expect(stdout).toBe('You release the result, signed. It is released.\n');
      expect((await done('rita', 'todo')).stdout).not.toContain('Review');

      const output = join(folder, 'got.zip');
      const got = await done('carol', 'result', id, '--output', output);
      expect(readFileSync(output, 'utf8')).toBe('species,count\nAdelie,152\n');
      expect(got.stdout).toMatch(
        /as the statement says\nrita: release, ".*Fine\. Check .* ended with 3: .*Adelie,152 seen.*"\n$/,
      );

      const evidence = join(folder, 'evidence');
      const verified = await users['carol']?.('evidence', id, '--output', evidence, '--verify');
      expect(verified).toMatchObject({
        exitCode: 0,
        stdout: expect.stringContaining('"rita" decided to release the result, signed by the key'),
      });
      expect(verified?.stdout).toContain('The journal has the same file, decisions and end of the review.');
      const theirs = join(folder, 'evidence-of-rita');
      await done('rita', 'evidence', id, '--output', theirs);
      for (const other of [theirs, join(theirs, 'evidence.json')]) {
        const { stdout: compared } = await done('carol', 'verify', evidence, '--with', other);
        expect(compared).toMatch(/^HOLDS +The same state of it is known: /m);
        expect(compared).toMatch(/^HOLDS +The other evidence \(1\), of the run "[^"]+", does not contradict this one\.$/m);
      }
      const alone = await users['carol']?.('verify', join(evidence, 'result.json'), '--keys', join(evidence, 'keys.json'));
      expect(alone).toMatchObject({ exitCode: 3 });

      const runs = JSON.parse((await done('alice', 'runs', id, '--json')).stdout) as { items: { result: { asset: string } }[] };
      const asset = runs.items[0]?.result.asset ?? '';
      const late = ['result', id, '--output', join(folder, 'late.zip')];
      const forging = await startAnsweringServer();
      forging.answerWith(({ url = '', headers: { authorization = '' } }, response) => {
        void fetch(`${stack.baseUrl}${url}`, { headers: { authorization } }).then(async (given) => {
          const text = await given.text();
          const forged = /\/result\b/.test(url) ? text.replaceAll('"note":"Fine.', '"note":"Good.') : text;
          response.writeHead(given.status, { 'content-type': given.headers.get('content-type') ?? '' }).end(forged);
        });
      });
      const token = await stack.token('carol', ['d1:result_consumer']);
      const env = { CMS_SERVER: forging.endpoint, CMS_DOMAIN: 'd1', CMS_TOKEN: token };
      expect(await cmsIn(join(folder, 'carol'), { env })(...late)).toMatchObject({
        exitCode: 1,
        stderr: expect.stringContaining('Nothing was saved.\nThe signature does not fit the statement'),
      });
      await forging.stop();

      await done('alice', 'asset', 'delete', asset, '--yes');
      expect(await users['carol']?.(...late)).toMatchObject({
        exitCode: 5,
        stderr: expect.stringMatching(
          /^The result was released on \d{4}-\d\d-\d\d and is deleted: its days are over, or the owner/,
        ),
      });
      expect(existsSync(join(folder, 'late.zip'))).toBe(false);
    },
  );

  it(
    'takes two parties and a reviewer from nothing to a released result in at most 13 commands',
    { timeout: 120_000 },
    async () => {
      const review = 'consumers: [bob], result_review: { reviewers: [rita], needed: 1 }';
      const key = 'key: ~/.ssh/id_ed25519.pub';
      const parties = [
        `alice: { ${key}, assets: [{ file: algorithm.py, type: algorithm }] }`,
        `bob: { ${key}, assets: [{ file: result.zip, name: data.csv, type: dataset }] }`,
        `rita: { ${key} }`,
      ];
      const file = join(folder, 'counted.yaml');
      writeFileSync(file, `computation: { name: Counted, owner: alice, ${review} }\nparties:\n  ${parties.join('\n  ')}\n`);
      const [seen, received] = [join(folder, 'counted-seen.zip'), join(folder, 'counted-received.zip')];
      const commands: [user: string, ...args: string[]][] = [
        ['alice', 'login', '--local', '--user', 'alice', '--role', 'creator'],
        ['bob', 'login', '--local', '--user', 'bob', '--role', 'dataset_provider'],
        ['rita', 'login', '--local', '--user', 'rita', '--role', 'viewer'],
        ['alice', 'init', file, '--yes'],
        ['bob', 'init', file, '--yes'],
        ['rita', 'init', file, '--yes'],
        ['bob', 'approve', '--sign', '~/.ssh/id_ed25519', '--yes'],
        ['alice', 'run', '--cvm', 'sim-counted', '--watch'],
        ['rita', 'review', '--key', '~/.ssh/id_ed25519', '--output', seen, '--check', 'test -s', '--release'],
        ['bob', 'result', '--output', received],
      ];
      expect(commands.length).toBeLessThanOrEqual(13);
      const homes = mkdtempSync(join(folder, 'homes-'));
      for (const [user, ...args] of commands) {
        const home = join(homes, user);
        mkdirSync(home, { recursive: true });
        const ofHome = args.map((arg) => arg.replace(/^~/, home)); // as a shell does
        const found = await cmsIn(home, { env: { CMS_SERVER: stack.baseUrl } })(...ofHome);
        expect([user, ...args, found.exitCode, found.stderr]).toEqual([user, ...args, 0, expect.any(String)]);
      }
      expect(readFileSync(received)).toEqual(readFileSync(seen));
    },
  );

  it(
    'decides on the file that was handed in before, and says to a consumer why it is withheld',
    { timeout: 120_000 },
    async () => {
      const id = await reviewed('two');
      const handedIn = await done('rita', 'review', id, '--file', join(folder, 'result.zip'));
      expect(handedIn.stdout).toBe('Handed in. You have not decided: --release lets the consumers have it, --withhold never.\n');
      const output = join(folder, 'again.zip');
      const own = join(folder, 'own.zip');
      writeFileSync(own, 'mine');
      const hash = (text: string) => createHash('sha3-256').update(text).digest('hex');
      const args = ['review', id, '--release', '--output', own, '--yes'];
      const other = await users['rita']?.(...args);
      expect(other).toMatchObject({ exitCode: 2, stdout: '', stderr: expect.stringContaining(`SHA3-256 ${hash('mine')}`) });
      expect(other?.stderr).toContain(`handed in ${hash('species,count\nAdelie,152\n')}`);
      expect(await users['rita']?.(...args, '--unbound')).toMatchObject({
        exitCode: 2,
        stderr: expect.stringContaining('own.zip is there already.\nNext: '),
      });
      expect(readFileSync(own, 'utf8')).toBe('mine');
      expect(await users['rita']?.('review', id, '--release', '--output', output, '--unbound')).toMatchObject({
        exitCode: 2, // it is fetched from the agent, although one was handed in
        stderr: expect.stringContaining('The agent gives the result to the holder of a key'),
      });
      expect(existsSync(output)).toBe(false);
      await done('alice', 'computation', 'update', id, '--reviewer', 'ruth'); // decides on later runs only
      const open = await users['carol']?.('result', id);
      expect(open).toMatchObject({ exitCode: 6, stderr: expect.stringContaining('under review. Its reviewers are rita.') });
      await done('rita', 'review', id, '--withhold', '--note', 'A small group.', '--output', output);
      expect(readFileSync(output, 'utf8')).toContain('Adelie');
      const late = await users['carol']?.('result', id);
      expect(late).toMatchObject({
        exitCode: 6,
        stderr: expect.stringMatching(/withhold the result\.\nrita: withhold, "A small group\."/),
      });
    },
  );

  it('hands in nothing for a decision that would be refused, and nothing after the decision', { timeout: 120_000 }, async () => {
    const id = await ready('signed', underReview);
    for (const user of ['alice', 'rita', 'carol']) await done(user, 'approve', id, '--sign', join(folder, user, 'key'), '--yes');
    await done('alice', 'run', id, '--cvm', 'sim-signed', '--watch');
    const args = ['review', id, '--file', join(folder, 'result.zip'), '--release'];
    const refused = async (message: string, ...more: string[]) => {
      const found = await users['rita']?.(...args, ...more);
      expect(found).toMatchObject({ exitCode: 2, stdout: '', stderr: expect.stringContaining(message) });
      const { stdout } = await done('rita', 'runs', id, '--json');
      expect(JSON.parse(stdout)).toMatchObject({ items: [{ result: { state: 'awaiting_file', asset: null } }] });
    };
    await refused('Nothing was handed in.\nNext: cms review ' + id);
    await refused('The manifest of the run has another key of yours. Nothing was handed in.', '--key', join(folder, 'carol/key'));
    const key = ['--key', join(folder, 'rita/key')];
    expect((await done('rita', ...args, ...key)).stdout).toBe('You release the result, signed. It is released.\n');
    for (const repeated of [args, args.slice(0, -1)]) {
      const late = await users['rita']?.(...repeated, ...key);
      expect(late).toMatchObject({
        exitCode: 6,
        stdout: '',
        stderr: expect.stringContaining('You have decided on this result.'),
      });
    }
  });

  it('fetches the result of a simulated CVM without a key', { timeout: 120_000 }, async () => {
    const id = await reviewed('three');
    const [output, received] = [join(folder, 'simulated.zip'), join(folder, 'received.zip')];
    const { stderr } = await done('rita', 'review', id, '--release', '--output', output);
    expect(stderr).toContain('A simulated CVM made this result. It ran no algorithm.\n');
    await done('carol', 'result', id, '--output', received);
    expect(readFileSync(received)).toEqual(readFileSync(output));
    expect(readFileSync(received, 'latin1')).toMatch(/^PK\x03\x04.*result\.json\{\n/s);
    expect((await fetch(`${stack.baseUrl}/local/results/no-run`)).status).toBe(404);
  });

  it(
    'makes every reviewer and consumer approve a run too, and the broker demand their approvals',
    { timeout: 120_000 },
    async () => {
      const id = await ready('demanded', underReview, 'rita');
      await done('rita', 'approve', id, '--sign', join(folder, 'rita/key'), '--yes');
      const config = readFileSync(join(folder, 'rita/.config/cms/config.json'), 'utf8');
      const { profiles } = JSON.parse(config) as { profiles: Record<string, { approved: Record<string, { needed: string[] }> }> };
      const { needed } = profiles['default']?.approved[id] ?? { needed: [] };
      expect(needed.toSorted()).toEqual(['alice', 'carol', 'rita']);

      const parts = honest();
      Object.assign(parts.own.approval ?? {}, { needed });
      parts.statement.approvals = parts.statement.approvals.filter(({ user }) => user === parts.own.user);
      const found = await checkAuthorization(...sent(parts), verify);
      for (const user of needed) {
        const sentence = `The approval of "${user}" is missing, which the computation demands.`;
        expect(found).toContainEqual({ verdict: 'does not hold', sentence });
      }
    },
  );

  it('names a released result before it deletes it, and reads nothing of its content', { timeout: 120_000 }, async () => {
    const id = await reviewed('eight');
    await done('rita', 'review', id, '--release', '--output', join(folder, 'eight.zip'));
    const runs = JSON.parse((await done('alice', 'runs', id, '--json')).stdout) as { items: { result: { asset: string } }[] };
    const asset = runs.items[0]?.result.asset ?? '';
    const acts: string[] = [];
    const relay = await startAnsweringServer();
    relay.answerWith(({ method = '', url = '', headers: { authorization = '' } }, response) => {
      acts.push(`${method} ${url}`);
      void fetch(`${stack.baseUrl}${url}`, { method, headers: { authorization } }).then(async (given) => {
        response.writeHead(given.status, { 'content-type': given.headers.get('content-type') ?? '' }).end(await given.text());
      });
    });
    const env = {
      CMS_SERVER: relay.endpoint,
      CMS_DOMAIN: 'd1',
      CMS_TOKEN: await stack.token('alice', ['d1:administrator']),
    };
    const cms = cmsIn(join(folder, 'alice'), { env, err: (text) => acts.push(text) });
    expect(await cms('asset', 'delete', asset, '--yes')).toMatchObject({ exitCode: 0 });
    await relay.stop();
    expect(acts.slice(-2)).toEqual([
      expect.stringMatching(new RegExp(`^Changing the asset ".+" \\(${asset}\\) of rita\\.\n$`)),
      `DELETE /d1/assets/${asset}`,
    ]);
    expect(acts.slice(0, -2).filter((act) => !/^GET \/d1\/assets\?/.test(act))).toEqual([]);
  });

  it('waits for the result of a simulated CVM that is still at work, and says why one failed', { timeout: 120_000 }, async () => {
    const id = await ready('seven');
    await done('alice', 'run', id, '--cvm', 'sim-seven');
    const output = join(folder, 'seven.zip');
    expect((await done('alice', 'result', id, '--output', output)).stdout).toBe(`Saved the result in ${output}.\n`);
    await done('alice', 'watch', id);
    await done('alice', 'run', id, '--cvm', 'sim-fail-seven');
    for (const _ of ['while it runs', 'after its end']) {
      const failed = await users['alice']?.('result', id, '--output', join(folder, 'none.zip'));
      expect(failed).toMatchObject({ exitCode: 10, stdout: '', stderr: expect.stringContaining('The run has failed: ') });
    }
  });

  it(
    'takes no result for simulated if the user, an approval or the registration of the CVM says otherwise',
    { timeout: 120_000 },
    async () => {
      const id = await reviewed('four');
      const output = join(folder, 'four.zip');
      const args = ['review', id, '--output', output];
      const refused = async (message: string, ...more: string[]) => {
        expect(await users['rita']?.(...args, ...more)).toMatchObject({
          exitCode: expect.any(Number),
          stdout: '',
          stderr: expect.stringContaining(message),
        });
        expect(existsSync(output)).toBe(false);
      };
      await refused('--key FILE', '--agent-fingerprint', 'ab'.repeat(32), '--release');
      await done('rita', 'approve', id, '--cvm', 'another', '--yes');
      await refused('Your approval is for other CVMs', '--release');
      await done('rita', 'withdraw', id, '--yes');
      const got = await done('rita', 'review', id, '--output', join(folder, 'said.zip'), '--json');
      expect(JSON.parse(got.stdout)).toMatchObject({ simulated: true });
    },
  );

  it('takes no result of a registered CVM for simulated', { timeout: 120_000 }, async () => {
    const id = await reviewed('five');
    await done('alice', 'cvm', 'register', 'sim-five');
    const output = join(folder, 'five.zip');
    expect(await users['rita']?.('review', id, '--output', output)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('--key FILE'),
    });
    expect(existsSync(output)).toBe(false);
  });

  it('takes no result for simulated where an attestation policy demands a CVM that attests', async () => {
    const server = await startAnsweringServer();
    const [id, run] = ['00000000-0000-8000-8000-000000000001', '00000000-0000-8000-8000-000000000002'];
    const manifest = { id, name: 'six' };
    const told = async (attestation_policy: AttestationPolicy | null) => {
      const configuration = configurationOf({
        agent_config: {},
        approval: 'none',
        attestation_policy,
        log_access: 'none',
        result_review: null,
      });
      const digests = { manifest_digest: canonicalDigest(manifest), configuration_digest: canonicalDigest(configuration) };
      const answers: Record<string, object> = {
        [`/d1/computations/${id}/run`]: {
          id: run,
          computation_id: id,
          cvm_id: 'cvm-1',
          status: 'completed',
          result: null,
          ...digests,
        },
        [`/d1/computations/${id}`]: { id, owner: 'alice', consumers: [], ...configuration },
        [`/d1/computations/${id}/manifest`]: manifest,
        [`/local/results/${run}`]: { made: 'up' },
      };
      server.answerWith((request, response) => {
        const answer = answers[request.url?.replace(/\?.*/, '') ?? ''];
        const text = JSON.stringify(answer ?? { code: 'not_found', detail: 'There is none.' });
        const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
        response.writeHead(answer ? 200 : 404, headers).end(text);
      });
      const token = `e30.${Buffer.from(JSON.stringify({ sub: 'rita' })).toString('base64url')}.c2ln`;
      const cms = cmsIn('/nowhere', { env: { CMS_SERVER: server.endpoint, CMS_DOMAIN: 'd1', CMS_TOKEN: token } });
      return await cms('result', id, '--output', join(folder, attestation_policy ? 'attested.zip' : 'any.zip'));
    };
    expect(await told(null)).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('A simulated CVM made this result.') });
    expect(await told(strictPolicy)).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('--key FILE') });
    await server.stop();
  });
});
