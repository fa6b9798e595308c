import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto';
import { canonicalJson } from 'computation-management-formats/digests';
import { verifiesEs256 } from 'computation-management-formats/es256';
import { parseAttestRequest, sealForTee, teeThumbprint } from 'computation-management-key-release';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { Deadline } from '../../../shared/runtime/deadline.ts';
import { runKeys } from '../../../shared/table/keys.ts';
import { openTable } from '../../../shared/table/table.ts';
import { amount, sampleSeed } from '../../support/amounts.ts';
import { machineToken, trustForgedMachines, untilAttested } from '../../support/attested-agents.ts';
import { startGatewayStack } from '../../support/gateway-stack.ts';
import { KbsClient, type Otherwise } from '../../support/kbs-client.ts';
import { callAs, readyComputation, publicKey, type Call } from '../../support/ready-computation.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';
import type { SimulatedAgent } from '../../support/simulated-agent.ts';
import { strictPolicy } from '../../support/strict-policy.ts';

const world = sharedByTests(() => startGatewayStack());
beforeAll(trustForgedMachines);

interface KeyedRun {
  computation: string;
  run: string;
  asset: string;
  key: string;
  agent: SimulatedAgent;
  cvm: string;
  client: KbsClient;
}

let machines = 0;
const done = async (answer: ReturnType<Call>): Promise<Record<string, unknown>> => {
  const { status, body } = await answer;
  expect({ status, body }).toMatchObject({ status: expect.toSatisfy((each: number) => each < 300) });
  return body;
};

/** Starts a run on a machine that attests, with an asset that has a key, up to the state in which the agent waits for files. */
async function keyedRun(
  domain: string,
  given: { key?: object; computation?: object; as?: Call; use?: string; before?: (computation: string) => Promise<unknown> } = {},
): Promise<KeyedRun> {
  const { call } = world;
  const as = given.as ?? call;
  const cvmId = `machine-${++machines}`;
  const guest = randomBytes(32);
  const cvm = await world.enrol(cvmId, { domain });
  const token = machineToken(cvm.certificate, (report) => void guest.copy(report, 0x140));
  const agent = world.connect(cvm, { token: () => token });
  await untilAttestedIn(call, domain, cvmId);
  const computation = await readyComputation(call, domain);
  const file = { file_name: 'iris.csv', asset_type: 'dataset', asset: btoa('1,2'), use: given.use ?? 'open' };
  const asset = String((await done(as('POST', `/${domain}/assets`, { asset: file })))['id']);
  const key = randomBytes(32).toString('base64');
  const held = { held: 'service', key, release_policy: strictPolicy, ...given.key };
  await done(as('PUT', `/${domain}/assets/${asset}/key`, held));
  await done(as('POST', `/${domain}/assets/${asset}/${computation}`));
  await done(call('PUT', `/${domain}/computations/${computation}`, { name: 'Iris', ...given.computation }));
  await given.before?.(computation);
  const run = (await done(call('POST', `/${domain}/computations/${computation}/run?cvm=${cvmId}`))) as unknown as string;
  await expect.poll(() => agent.state).toBe('ReceivingAlgorithm');
  await expect
    .poll(async () => (await events(domain, computation)).map(({ event_type }) => event_type))
    .toContain('ReceivingAlgorithm');
  return { computation, run, asset, key, agent, cvm: cvmId, client: new KbsClient(`${world.stack.baseUrl}/${domain}`, guest) };
}

async function untilAttestedIn(call: Call, domain: string, cvmId: string): Promise<void> {
  if (domain === 'd1') return await untilAttested(call, cvmId);
  await expect
    .poll(async () => (await call('GET', `/${domain}/cvms/${cvmId}`)).body['attestation'])
    .toMatchObject({ verdict: 'verified' });
}

async function events(domain: string, computation: string) {
  const { body } = await world.call('GET', `/${domain}/computations/${computation}/events?limit=100`);
  return (
    body['events'] as { event_type: string; details: string; run_id: string; cvm_id: string; originator: string }[]
  ).reverse();
}
const detailsOf = async (domain: string, computation: string, type: string) =>
  (await events(domain, computation))
    .filter(({ event_type }) => event_type === type)
    .map(({ details }) => JSON.parse(Buffer.from(details, 'base64').toString()) as Record<string, unknown>);

/** Returns a provider of files, and how it approves what a computation has now. */
async function provider() {
  const bob = callAs(world.stack.baseUrl, await world.stack.token('bob', ['d1:dataset_provider']));
  const approve = async (computation: string) => {
    const { headers } = await fetch(`${world.stack.baseUrl}/d1/computations/${computation}/manifest`, {
      headers: { authorization: `Bearer ${await world.stack.token('bob', ['d1:dataset_provider'])}` },
    });
    const [digest, configuration_digest] = ['manifest-digest', 'configuration-digest'].map((name) => headers.get(name));
    await done(bob('POST', `/d1/computations/${computation}/approvals`, { digest, configuration_digest }));
  };
  return { bob, approve };
}

let shared: Promise<KeyedRun> | undefined;
const sharedRun = () => (shared ??= keyedRun('d1'));

interface AskedKey {
  id: string;
  asset: string;
  run: string;
  authorization: { statement: Record<string, unknown>; signature: string; key_id: string };
  evidence: string;
}

describe('the key of an asset', () => {
  it('is released to the guest of the run, with an event, and counted', async () => {
    const { client, asset, key, computation, run, cvm } = await keyedRun('d1');
    expect(await client.fetch(asset)).toMatchObject({ status: 200, key });
    const [released] = await detailsOf('d1', computation, 'key_released');
    expect(released).toEqual({
      asset,
      number: 1,
      fingerprint: expect.stringMatching(/^[\da-f]{64}$/),
      evidence: expect.stringMatching(/^[\da-f]{64}$/),
      tee_key: expect.stringMatching(/^[\w-]{43}$/),
    });
    expect(await events('d1', computation)).toContainEqual(
      expect.objectContaining({ event_type: 'key_released', run_id: run, cvm_id: cvm, originator: 'system' }),
    );
    expect((await world.call('GET', `/d1/assets/${asset}/key`)).body).toMatchObject({ releases: 1 });
  });

  it('is released 4 times in a run, by the cookie or by the token, with one slash or two, and then refused', async () => {
    const { client, asset, key, computation } = await keyedRun('d1');
    expect(await client.fetch(asset)).toMatchObject({ status: 200, key });
    const again = await client.get(asset, { by: 'token', path: `resource/${asset.toUpperCase()}/key/1` });
    expect(client.open(again.body).toString('base64')).toBe(key);
    const atOnce = await Promise.all([1, 2, 3, 4].map(() => client.get(asset)));
    expect(atOnce.map(({ status }) => status).sort()).toEqual([200, 200, 403, 403]);
    expect(await detailsOf('d1', computation, 'key_released')).toHaveLength(4);
    expect(await detailsOf('d1', computation, 'key_refused')).toEqual(
      [1, 2].map(() => ({ asset, reason: 'The key was released 4 times in this run already.' })),
    );
  });

  it.each([
    ['EC on P-521', () => generateKeyPairSync('ec', { namedCurve: 'P-521' })],
    ['RSA', () => generateKeyPairSync('rsa', { modulusLength: 2_048 })],
  ])('is sealed for a TEE with a key of %s', async (_, make) => {
    const { client, asset, key } = await keyedRun('d1');
    expect(await new KbsClient(client.url, client.guest, make()).fetch(asset)).toMatchObject({ status: 200, key });
  });

  it('is not released to other guests, and leaves no trace of them', async () => {
    const { client, asset, computation } = await keyedRun('d1');
    const other = new KbsClient(client.url, randomBytes(32));
    expect(await other.fetch(asset)).toMatchObject({
      status: 403,
      body: { detail: expect.stringContaining('not that of an active run') },
    });
    expect((await events('d1', computation)).filter(({ event_type }) => /^key_re[lf]/.test(event_type))).toEqual([]);
  });

  it('is refused to an algorithm that asks itself, and the run that fails says why', async () => {
    const { client, agent, asset, computation } = await keyedRun('d1');
    agent.upload();
    await expect.poll(() => agent.state).toBe('Running');
    const sentence = 'The agent is in the state Running: keys are for ReceivingAlgorithm and ReceivingData.';
    expect(await client.fetch(asset)).toMatchObject({ status: 403, body: { detail: sentence } });
    expect(await detailsOf('d1', computation, 'key_refused')).toEqual([{ asset, reason: sentence }]);
    agent.fail();
    expect(await world.untilRun(computation, 'failed')).toMatchObject({ reason: sentence });
  });

  it('is refused with 401 while the agent does not answer, and then released', async () => {
    const { client, agent, asset, key } = await keyedRun('d1');
    agent.hang();
    expect(await client.fetch(asset)).toMatchObject({ status: 401, body: { detail: expect.stringContaining('did not answer') } });
    agent.goOn();
    expect(await client.fetch(asset)).toMatchObject({ status: 200, key });
  });

  it('is refused once the run is being stopped or is over', async () => {
    const { client, agent, asset, computation } = await keyedRun('d1');
    expect((await client.auth()).status).toBe(200);
    expect((await client.attest()).status).toBe(200);
    agent.hang();
    await world.stopRun(computation);
    expect(await client.get(asset)).toMatchObject({ status: 403 });
    agent.goOn();
    await world.untilRun(computation, 'cancelled');
    expect(await client.get(asset)).toMatchObject({ status: 403 });
    expect(await detailsOf('d1', computation, 'key_released')).toEqual([]);
  });

  it.each([
    ['withdraws', (bob: Call, path: string) => bob('DELETE', path), 'was withdrawn'],
    ['refuses', (bob: Call, path: string) => bob('POST', path, { decision: 'refuse', reason: 'No.' }), 'was refused'],
  ])('is refused after its provider %s, until the end of the run', async (_, act, how) => {
    const { bob, approve } = await provider();
    const before = async (computation: string) => {
      await done(bob('POST', `/d1/computations/${computation}/key`, { key: publicKey() }));
      await approve(computation);
    };
    const { client, asset, key, computation } = await keyedRun('d1', { as: bob, use: 'approval', before });
    expect(await client.fetch(asset)).toMatchObject({ status: 200, key });
    await done(act(bob, `/d1/computations/${computation}/approvals`));
    const refusal = { status: 403, body: { detail: `The approval of bob ${how}.` } };
    expect(await client.fetch(asset)).toMatchObject(refusal);
    await approve(computation);
    expect(await client.fetch(asset)).toMatchObject(refusal);
  });

  it.each([
    ['of the asset', { key: { release_policy: { ...strictPolicy, measurements: ['cd'.repeat(48)] } } }],
    [
      'of the computation',
      { computation: { attestation_policy: strictPolicy }, report: (report: Buffer) => report.fill(0xcd, 0x90, 0xc0) },
    ],
  ])(
    'is refused to evidence that does not satisfy the policy %s',
    async (_, { report, ...given }: { report?: (report: Buffer) => unknown; key?: object; computation?: object }) => {
      const { client, asset } = await keyedRun('d1', given);
      await client.auth();
      expect(await client.attest({ report: (bytes) => void report?.(bytes) })).toMatchObject({ status: 200 });
      expect(await client.get(asset)).toMatchObject({
        status: 403,
        body: { detail: expect.stringMatching(/does not satisfy the policy.*measurement/) },
      });
    },
  );

  it('is refused over another connection than the attested one, unless the policy allows reconnects', async () => {
    const strict = await keyedRun('d1');
    const lax = await keyedRun('d1', { key: { release_policy: { ...strictPolicy, allow_reconnect: true } } });
    for (const { agent } of [strict, lax]) agent.loseConnection();
    await expect.poll(async () => (await lax.client.fetch(lax.asset)).status).toBe(200);
    await expect
      .poll(() => strict.client.fetch(strict.asset))
      .toMatchObject({ status: 403, body: { detail: expect.stringContaining('connected again') } });
  });

  it('stays that of the start of the run when its asset gets another one, or none', async () => {
    const { client, asset, key } = await keyedRun('d1');
    const other = { held: 'service', key: randomBytes(32).toString('base64') };
    await done(world.call('PUT', `/d1/assets/${asset}/key`, other));
    expect(await client.fetch(asset)).toMatchObject({ status: 200, key });
    await done(world.call('DELETE', `/d1/assets/${asset}/key`));
    expect(await client.fetch(asset)).toMatchObject({ status: 200, key });
  });

  it('comes by the certificates of the tokens of the run if the evidence lacks them', async () => {
    const { client, asset, key } = await keyedRun('d1');
    await client.auth();
    expect(await client.attest({ withoutCertificates: true })).toMatchObject({ status: 200 });
    expect(client.open((await client.get(asset)).body).toString('base64')).toBe(key);
  });

  it('costs strangers who send evidence without certificates no reads of tokens each time', async () => {
    const { client, computation, run } = await keyedRun('d1');
    const strangers = Array.from({ length: 10 }, () => new KbsClient(client.url, randomBytes(32)));
    for (const stranger of strangers) await stranger.auth();
    const ofRun = JSON.stringify(runKeys.attestation(computation, run).sk);
    const sent = vi.spyOn(openTable(() => new Deadline()).document, 'send');
    const forged = { withoutCertificates: true, report: (report: Buffer) => void report.fill(8, 0x1a0, 0x1e0) };
    const answers = await Promise.all(strangers.map((stranger) => stranger.attest(forged)));
    expect(answers.map(({ status }) => status)).toEqual(strangers.map(() => 403));
    const reads = sent.mock.calls.filter(([command]) => JSON.stringify(command.input).includes(ofRun));
    sent.mockRestore();
    expect(reads.length).toBeGreaterThan(0);
    expect(reads.length).toBeLessThan(strangers.length / 2);
  });
});

describe('the protocol', () => {
  it('answers 401 to another version, and gives a nonce and a cookie for its own path', async () => {
    const client = new KbsClient(`${world.stack.baseUrl}/d1`, randomBytes(32));
    for (const version of ['0.1.1', '0.4.0'.repeat(9), 4, null, undefined])
      expect(await client.auth({ version, tee: 'snp', 'extra-params': '' })).toMatchObject({ status: 401 });
    const response = await fetch(`${client.url}/kbs/v0/auth`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"version":"0.4.0","tee":"snp","extra-params":""}',
    });
    expect(await response.json()).toEqual({ nonce: expect.any(String), 'extra-params': '' });
    expect(response.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^kbs-session-id=[\w-]{43}; Path=\/d1\/kbs\/v0; HttpOnly$/),
    ]);
  });

  it('refuses to attest below a domain without an active run that has a key, before it verifies anything', async () => {
    const client = new KbsClient(`${world.stack.baseUrl}/d2`, randomBytes(32));
    await client.auth();
    expect(await client.attest({ body: () => ({}) })).toMatchObject({ status: 403, body: { code: 'forbidden' } });
  });

  it('takes a nonce once, with its cookie, from the domain that made it', async () => {
    const { client } = await keyedRun('d1');
    await client.auth();
    const { cookie } = client;
    client.cookie = '';
    expect(await client.attest()).toMatchObject({ status: 401 });
    client.cookie = cookie.replace(/=./, '=_');
    expect(await client.attest()).toMatchObject({ status: 401 });
    client.cookie = cookie;
    expect(await client.attest()).toMatchObject({ status: 200 });
    expect(await client.attest()).toMatchObject({ status: 401, body: { detail: expect.stringContaining('used before') } });
    const elsewhere = new KbsClient(`${world.stack.baseUrl}/d2`, client.guest);
    await elsewhere.auth();
    [client.nonce, client.cookie] = [elsewhere.nonce, elsewhere.cookie];
    expect(await client.attest()).toMatchObject({ status: 401 });
  });

  it.each<[string, Otherwise, number, string]>([
    [
      'sample evidence',
      { body: (body) => ({ ...body, 'tee-evidence': { primary_evidence: { svn: '1', report_data: 'AA==' } } }) },
      403,
      'no platform that proves anything',
    ],
    [
      'evidence for another key',
      {
        body: (body) => ({
          ...body,
          'runtime-data': {
            nonce: (body['runtime-data'] as { nonce: string }).nonce,
            'tee-pubkey': new KbsClient('', randomBytes(32)).teePublicKey,
          },
        }),
      },
      403,
      'report_data',
    ],
    [
      'evidence with another additional evidence',
      { body: (body) => ({ ...body, 'tee-evidence': { ...(body['tee-evidence'] as object), additional_evidence: '{}' } }) },
      403,
      'report_data',
    ],
    ['a body without evidence', { body: () => ({}) }, 400, 'runtime-data must be an object'],
  ])('refuses %s', async (_, otherwise, status, detail) => {
    const { client } = await sharedRun();
    await client.auth();
    expect(await client.attest(otherwise)).toMatchObject({ status, body: { detail: expect.stringContaining(detail) } });
  });

  it('ignores members that it does not know', async () => {
    const { client } = await sharedRun();
    await client.auth({ version: '0.4.0', tee: 'snp', 'extra-params': '', more: [] });
    expect(
      await client.attest({ body: (body) => ({ ...body, more: 1, 'init-data': { format: 'toml', body: '' } }) }),
    ).toMatchObject({ status: 200 });
  });

  it('answers 404 to other paths, 401 without a session, and no HEAD', async () => {
    const { client, asset } = await sharedRun();
    for (const path of [
      `resource/${asset}/key/2`,
      `resource/${asset}/KEY/1`,
      `resource/default/key/1`,
      `resource/${asset}/key`,
      `resource/${asset}/key/1/2`,
    ])
      expect(await client.get(asset, { path }), path).toMatchObject({ status: 404 });
    const stranger = new KbsClient(client.url, randomBytes(32));
    expect(await stranger.get(asset)).toMatchObject({ status: 401, body: { code: 'unauthenticated' } });
    stranger.token = 'e30.e30.AA';
    expect(await stranger.get(asset, { by: 'token' })).toMatchObject({ status: 401 });
    expect((await fetch(`${client.url}/kbs/v0/resource/${asset}/key/1`, { method: 'HEAD' })).status).toBe(404);
  });

  it('takes no attestation over 1 MiB', async () => {
    const { client } = await sharedRun();
    expect(await client.attest({ body: () => ({ more: 'x'.repeat(1024 * 1024) }) })).toMatchObject({ status: 413 });
  });
});

describe('a key that a party holds', () => {
  const secret = randomBytes(32);
  const key = { held: 'party', key: undefined, fingerprint: createHash('sha256').update(secret).digest('hex') };
  const nonce = randomBytes(32).toString('base64url');
  const asked = async () => (await world.call('GET', `/d1/releases?nonce=${nonce}&wait=20`)).body['releases'] as AskedKey[];

  it('is released by the answer of its broker, which gets the evidence and a signed authorization for its nonce', async () => {
    const { client, asset, run, computation, cvm } = await keyedRun('d1', { key });
    const fetched = client.fetch(asset);
    const [ask] = await asked();
    expect(ask).toMatchObject({ asset, run });
    const { statement, signature, key_id } = ask?.authorization as AskedKey['authorization'];
    expect(Object.keys(statement).sort()).toEqual(
      'approvals certificate computation configuration_digest cvm domain expires_at issued_at manifest manifest_digest nonce run started token_hashes type'.split(
        ' ',
      ),
    );
    expect(statement).toMatchObject({
      type: 'run-authorization:v1',
      nonce,
      domain: 'd1',
      computation,
      run,
      cvm,
      started: { event_type: 'started' },
    });
    const { body } = await world.call('GET', '/.well-known/jwks.json');
    const jwk = (body['keys'] as { kid: string; x: string; y: string }[]).find(({ kid }) => kid === key_id);
    expect(jwk && (await verifiesEs256(canonicalJson(statement), signature, jwk))).toBe(true);
    const { reportData, nonce: ofEvidence, teePublicKey } = parseAttestRequest(ask?.evidence ?? '');
    expect([ofEvidence, reportData.length]).toEqual([client.nonce, 64]);
    const jwe = sealForTee(secret, teePublicKey);
    const answer = () =>
      world.call('POST', `/d1/releases/${ask?.id ?? ''}`, { jwe }, { 'idempotency-key': `answer-${ask?.id ?? ''}` });
    expect(await answer()).toMatchObject({ status: 200, body: { asset, run } });
    expect(await answer()).toMatchObject({ status: 200, body: { asset, run } });
    expect(await fetched).toMatchObject({ status: 200, key: secret.toString('base64') });
    expect(await world.call('POST', `/d1/releases/${ask?.id ?? ''}`, { jwe })).toMatchObject({ status: 409 });
    const hash = createHash('sha256')
      .update(ask?.evidence ?? '')
      .digest('hex');
    expect(await detailsOf('d1', computation, 'key_released')).toMatchObject([
      { asset, evidence: hash, tee_key: teeThumbprint(teePublicKey) },
    ]);
  });

  it('is refused with the sentence of its broker, quoted', async () => {
    const { client, asset, computation } = await keyedRun('d1', { key });
    const fetched = client.fetch(asset);
    const [ask] = await asked();
    await done(world.call('POST', `/d1/releases/${ask?.id ?? ''}`, { refusal: 'Not today.' }));
    const sentence = 'The broker of alice refuses: "Not today."';
    expect(await fetched).toMatchObject({ status: 403, body: { detail: sentence } });
    expect(await detailsOf('d1', computation, 'key_refused')).toEqual([{ asset, reason: sentence }]);
  });

  it('is asked for of its own broker alone', async () => {
    const { client, asset } = await keyedRun('d1', { key });
    const fetched = client.fetch(asset);
    const [ask] = await asked();
    const mallory = callAs(world.stack.baseUrl, await world.stack.token('mallory', ['d1:administrator']));
    expect(await mallory('GET', '/d1/releases')).toMatchObject({ status: 200, body: { releases: [] } });
    expect(await mallory('POST', `/d1/releases/${ask?.id ?? ''}`, { refusal: 'No.' })).toMatchObject({ status: 404 });
    await done(world.call('POST', `/d1/releases/${ask?.id ?? ''}`, { refusal: 'No.' }));
    expect(await fetched).toMatchObject({ status: 403 });
  });

  it('is not released when the run is stopped while the broker thinks', async () => {
    const { client, asset, computation } = await keyedRun('d1', { key });
    const fetched = client.fetch(asset);
    const [ask] = await asked();
    await world.stopRun(computation);
    const { teePublicKey } = parseAttestRequest(ask?.evidence ?? '');
    await done(world.call('POST', `/d1/releases/${ask?.id ?? ''}`, { jwe: sealForTee(secret, teePublicKey) }));
    expect(await fetched).toMatchObject({ status: 403 });
    expect(await detailsOf('d1', computation, 'key_released')).toEqual([]);
  });

  it.runIf(amount({ sample: false, full: true }))('is refused if its broker does not answer in 20 seconds', async () => {
    const { client, asset } = await keyedRun('d1', { key });
    expect(await client.fetch(asset)).toMatchObject({ status: 403, body: { detail: 'the broker of alice did not answer' } });
  });
});

describe('whatever is done in a run', () => {
  const histories = amount({ sample: 2, full: 1_000 });
  const steps = 7;

  it.each(Array.from({ length: histories }, (_, index) => sampleSeed + index))(
    'its key leaves exactly while every condition holds (seed %i)',
    async (seed) => {
      const random = seededRandom(seed);
      const { bob, approve } = await provider();
      const before = async (computation: string) => {
        await done(bob('POST', `/d1/computations/${computation}/key`, { key: publicKey() }));
        await approve(computation);
      };
      const { client, agent, asset, key, computation } = await keyedRun('d1', { as: bob, use: 'approval', before });
      const approvals = `/d1/computations/${computation}/approvals`;
      let isEdited = false;
      const holds = { approval: true, receiving: true, connection: true, running: true, releases: 0 };
      const acts: Record<string, () => Promise<unknown>> = {
        withdraw: async () => {
          await done(bob('DELETE', approvals));
          if (holds.running) holds.approval = false;
        },
        refuse: async () => {
          await done(bob('POST', approvals, { decision: 'refuse', reason: 'No.' }));
          if (holds.running) holds.approval = false;
        },
        'approve what there is now': async () => {
          await approve(computation);
          if (holds.running && isEdited) holds.approval = false; // it does not count for this run
        },
        edit: async () => {
          await done(world.call('PUT', `/d1/computations/${computation}`, { name: `Iris ${random()}` }));
          isEdited = true;
        },
        'change the key': () =>
          done(bob('PUT', `/d1/assets/${asset}/key`, { held: 'service', key: randomBytes(32).toString('base64') })),
        'run the algorithm': async () => {
          agent.upload();
          holds.receiving = false;
        },
        reconnect: async () => {
          agent.loseConnection();
          holds.connection = false;
        },
        stop: async () => {
          await world.call('POST', `/d1/computations/${computation}/stop`);
          holds.running = false;
        },
        'replay the nonce': async () => expect((await client.attest()).status).not.toBe(200),
        'ask from a second machine': async () =>
          expect((await new KbsClient(client.url, randomBytes(32)).fetch(asset)).status).toBe(403),
      };
      const names = Object.keys(acts);
      const said: string[] = [];
      for (let step = 0; step < steps; step++) {
        const name = names[Math.floor(random() * names.length)] ?? '';
        said.push(name);
        await acts[name]?.();
        const isAllowed = holds.approval && holds.receiving && holds.connection && holds.running && holds.releases < 4;
        const answer = await client.fetch(asset);
        expect([said, answer.status === 200], JSON.stringify(answer.body)).toEqual([said, isAllowed]);
        if (!isAllowed) continue;
        expect(answer.key).toBe(key);
        holds.releases++;
      }
      expect(await detailsOf('d1', computation, 'key_released')).toHaveLength(holds.releases);
    },
  );
});
