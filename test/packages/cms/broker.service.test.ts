import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { computationWithPolicy, machineToken, trustForgedMachines, untilAttested } from '../../support/attested-agents.ts';
import { startGatewayStack } from '../../support/gateway-stack.ts';
import { KbsClient } from '../../support/kbs-client.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';
import { forgeSnp } from '../attestation/forge-snp.ts';
import { cmsIn } from './fake-terminal.ts';

const world = sharedByTests(() => startGatewayStack());
const folder = mkdtempSync(join(tmpdir(), 'cms-'));
const [root, file] = [join(folder, 'root.pem'), join(folder, 'penguins.csv')];
beforeAll(() => {
  trustForgedMachines();
  writeFileSync(root, forgeSnp().options.roots?.[0] ?? '');
  writeFileSync(file, 'species,mass\n');
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs a command as bob. */
async function bob(...args: string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await cmsIn(folder, { env: { CMS_SERVER: world.stack.baseUrl } })(...args);
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
  return stdout;
}

/** Starts bob's broker, which ends with the test or before it. Returns what ends it, and returns its output then. */
function startBroker(...options: string[]): () => Promise<{ stdout: string; stderr: string; exitCode: number }> {
  const ended = new AbortController();
  const env = { CMS_SERVER: world.stack.baseUrl };
  const ran = cmsIn(folder, { env, signal: ended.signal })('broker', '--root', root, ...options);
  const end = async () => {
    ended.abort();
    return await ran;
  };
  onTestFinished(async () => {
    await end();
  });
  return end;
}

const logIn = (home: string) => readFileSync(join(home, '.config/cms/broker/default.jsonl'), 'utf8').trim().split('\n');

describe('cms asset add --encrypt', () => {
  it('adds nothing without a policy, goes on where an earlier try ended, and never lets the plain file leave instead', async () => {
    await bob('login', '--local', '--user', 'bob', '--role', 'dataset_provider');
    const { body } = await world.call('POST', '/d1/computations', { name: 'Encrypted' });
    const id = (body as { id: string }).id;
    const policy = join(folder, 'policy.json');
    writeFileSync(policy, JSON.stringify({ platforms: ['snp'], measurements: ['ab'.repeat(48)] }));
    const cms = cmsIn(folder, { env: { CMS_SERVER: world.stack.baseUrl } });
    const add = ['asset', 'add', '--encrypt', file, '--key-held', 'party', '--type', 'dataset', '--name', 'e.csv'];
    for (const args of [add, [...add, '--computation', id]]) {
      const { exitCode, stderr } = await cms(...args);
      expect({ exitCode, stderr }).toEqual({
        exitCode: 6,
        stderr: expect.stringMatching(
          /^Nothing says which CVMs may get the key\..*\nHelp: docs\/machines\.md\nNext: cms asset add .* --release-policy FILE\n$/,
        ),
      });
    }
    expect(await bob('asset', 'list', '--json')).not.toContain('e.csv');

    const args = [...add, '--computation', id, '--release-policy', policy, '--json'];
    const { id: asset } = JSON.parse(await bob(...args)) as { id: string };
    expect(JSON.parse(await bob(...args))).toMatchObject({ id: asset, asset_key: { number: 1 } });
    const plain = await cms('asset', 'upload', file, '--asset', asset);
    expect(plain).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(`Next: cms asset key set ${asset} --key `) });
    writeFileSync(file, 'species,mass\nAdelie,3700\n');
    const other = await cms(...args);
    expect(other).toMatchObject({ exitCode: 6, stderr: expect.stringContaining(`cms asset unlink ${asset} ${id}`) });
    writeFileSync(file, 'species,mass\n');
  });
});

describe('cms broker', () => {
  it('releases the key of a file that was encrypted here, for the run that was approved here, until the limits', async () => {
    const { call } = world;
    await bob('login', '--local', '--user', 'bob', '--role', 'dataset_provider');
    const guest = randomBytes(32);
    const cvm = await world.enrol('machine-of-bob');
    const token = machineToken(cvm.certificate, (report) => void guest.copy(report, 0x140));
    const agent = world.connect(cvm, { token: () => token });
    await untilAttested(call, 'machine-of-bob');
    const computation = await computationWithPolicy(call);
    const added = ['asset', 'add', '--encrypt', file, '--key-held', 'party', '--type', 'dataset', '--computation', computation];
    const { id: asset } = JSON.parse(await bob(...added, '--json')) as { id: string };
    const key = readFileSync(`${file}.key`, 'utf8').trim();
    await bob('key', 'create', join(folder, 'id'));
    await bob('key', 'upload', join(folder, 'id.pub'), computation);
    await bob('approve', computation, '--sign', join(folder, 'id'), '--yes', '--runs', '1');
    expect(await bob('asset', 'key', 'show', asset)).toContain(
      createHash('sha256').update(Buffer.from(key, 'base64')).digest('hex'),
    );
    expect((await call('POST', `/d1/computations/${computation}/run?cvm=machine-of-bob`)).status).toBe(200);
    await expect.poll(() => agent.state).toBe('ReceivingAlgorithm');
    const client = new KbsClient(`${world.stack.baseUrl}/d1`, guest);

    const careful = startBroker();
    const refused = await client.fetch(asset);
    expect(refused).toMatchObject({ status: 403 });
    expect(refused.body['detail']).toContain('The evidence does not name the manifest');
    expect((await careful()).exitCode).toBe(0);

    const trusting = startBroker('--trust-service-for-manifest', '--releases-per-run', '1');
    expect(await client.fetch(asset)).toMatchObject({ status: 200, key });
    expect((await client.fetch(asset)).body['detail']).toContain('was released 1 times for this run already');
    await bob('asset', 'key', 'set', asset, '--key', `${file}.key`, '--key-held', 'party');
    const { stdout } = await trusting();
    expect(stdout).toContain(`Released the key of ${asset}`);

    const log = logIn(folder);
    expect(log.map((line) => (JSON.parse(line) as { decision: string }).decision)).toEqual(['refused', 'released', 'refused']);
    writeFileSync(join(folder, '.config/cms/broker/default.jsonl'), `${log.toSpliced(1, 1).join('\n')}\n`);
    const { exitCode, stderr } = await cmsIn(folder, { env: { CMS_SERVER: world.stack.baseUrl } })('broker');
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('line 2 of') });

    const kept = () => readFileSync(join(folder, '.config/cms/config.json'), 'utf8');
    expect(kept()).toContain(computation);
    await bob('key', 'remove', computation); // a withdrawal, also if the service conceals it
    expect(kept()).not.toContain(computation);
  });
});
