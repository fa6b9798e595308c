import { generateKeyPairSync, sign } from 'node:crypto';
import { approvalText, type Limits } from 'computation-management-formats/consent';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { localFunctions } from '../../local/functions/local-functions.ts';
import type { RouteName } from '../../shared/endpoints/endpoints.ts';
import { amount, sampleSeed } from '../support/amounts.ts';
import { startStores, type Stores } from '../support/builders-store.ts';
import { type EndpointRequest, httpEvent } from '../support/http-event.ts';
import { seededRandom, shuffled } from '../support/seeded-random.ts';
import { setTestEnvironment } from '../support/test-environment.ts';

const replays = amount({ sample: 24, full: 2_000 });
const invoke = localFunctions();
let stores: Stores;

beforeAll(async () => {
  stores = await startStores();
  setTestEnvironment(stores.endpoints, 'ERROR');
  process.env['TABLE_NAME'] = stores.table.name;
});
afterAll(() => stores.stop());

async function send(name: RouteName, method: string, domain: string, request: EndpointRequest) {
  for (;;) {
    const {
      statusCode,
      headers,
      body = '',
    } = (await invoke(name, httpEvent(method, domain, request))) as {
      statusCode: number;
      headers: Record<string, string>;
      body?: string;
    };
    if (statusCode === 503) continue; // a busy machine has not judged the request
    return { status: statusCode, headers, body: body === '' ? {} : (JSON.parse(body) as Record<string, unknown>) };
  }
}

async function done(...request: Parameters<typeof send>) {
  const answer = await send(...request);
  expect([...request, answer.status, answer.body]).toEqual([...request, expect.toSatisfy((code) => code < 300), answer.body]);
  return answer;
}

const newKey = () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  return { privateKey, encoded: publicKey.export({ format: 'der', type: 'spki' }).toString('base64') };
};
const users = ['alice', 'bob', 'carol', 'mallory'];
/** The keys that the users sign with, two of each user. */
const keys = new Map(users.map((user) => [user, [newKey(), newKey()]]));

interface Computation {
  domain: string;
  id: string;
  name: string;
  attested_tls: boolean;
  /** The public key that each user has uploaded. */
  uploaded: Map<string, string>;
}

type Given = { [name in keyof Limits]?: Limits[name] | undefined };

interface Seen extends Limits {
  of: Computation;
  user: string;
  key: string;
  digest: string;
  configuration_digest: string;
  signature: string;
}

/** Creates a computation of which each user is a party, with a dataset of their own that has the content of all others. */
async function aComputation(domain: string): Promise<Computation> {
  const fields = { name: 'Iris', approval: 'all_signed' };
  const { body } = await done('computations/create-computation', 'POST', domain, { body: fields });
  const computation = { domain, id: String(body['id']), name: 'Iris', attested_tls: false, uploaded: new Map() };
  for (const [index, user] of ['alice', ...users].entries()) {
    const asset = {
      file_name: index === 0 ? 'algorithm.py' : `${user}.csv`,
      asset_type: index === 0 ? 'algorithm' : 'dataset',
      asset: btoa('a,b\n'),
    };
    const { body } = await done('assets/create-asset', 'POST', domain, { body: { asset }, by: user });
    const path = { id: String(body['id']), computationID: computation.id };
    await done('assets/link-asset', 'POST', domain, { path, by: user });
    if (index > 0) await upload(computation, user, keys.get(user)?.[0]?.encoded ?? '');
  }
  return computation;
}

async function upload({ domain, id, uploaded }: Computation, user: string, key: string): Promise<void> {
  await done('keys/upload-key', 'POST', domain, { path: { id }, body: { key }, by: user });
  uploaded.set(user, key);
}

async function digestsOf({ domain, id }: Computation) {
  const { headers } = await done('runs/get-manifest', 'GET', domain, { path: { id } });
  return { digest: headers['manifest-digest'] ?? '', configuration_digest: headers['configuration-digest'] ?? '' };
}

const limits: Limits[] = [
  {},
  { cvm_ids: ['cvm-1'] },
  { cvm_ids: ['cvm-1', 'cvm-2'] },
  { expires_at: '2099-01-01T00:00:00.000Z' },
];

describe(`signatures that were ever seen (seed ${sampleSeed})`, () => {
  it('approve nothing when they are sent again for anything else', async () => {
    const random = seededRandom(sampleSeed);
    const pick = <T>(values: readonly T[]) => shuffled(values, random)[0] as T;
    const computations = [await aComputation('d1'), await aComputation('d1'), await aComputation('d2')];
    const seen: Seen[] = [];

    /** Approves a computation as the user, signed with the key that the user uploaded, if there is one. */
    const approve = async (of: Computation, user: string) => {
      const key = keys.get(user)?.find(({ encoded }) => encoded === of.uploaded.get(user));
      if (!key) return;
      const digests = await digestsOf(of);
      const given = pick(limits);
      const { domain, id: computation } = of;
      const { digest: manifest_digest, configuration_digest } = digests;
      const text = approvalText({ domain, computation, approver: user, manifest_digest, configuration_digest, ...given });
      const signature = sign(null, Buffer.from(text), key.privateKey).toString('base64');
      const body = { ...digests, ...given, signature };
      const { status } = await send('approvals/approve', 'POST', domain, { path: { id: computation }, body, by: user });
      if (status === 201) seen.push({ of, user, key: key.encoded, ...body });
    };
    const change = async (of: Computation, what: 'name' | 'configuration') => {
      if (what === 'name') of.name = pick(['Iris', 'Penguins']);
      else of.attested_tls = !of.attested_tls;
      const body = { name: of.name, agent_config: { attested_tls: of.attested_tls } };
      await done('computations/update-computation', 'PUT', of.domain, { path: { id: of.id }, body });
    };
    const withdraw = ({ domain, id }: Computation, by: string) =>
      done('approvals/withdraw-approval', 'DELETE', domain, { path: { id }, by });
    const steps: ((of: Computation, user: string) => Promise<unknown>)[] = [
      approve,
      approve,
      approve,
      withdraw,
      (of, user) => upload(of, user, pick(keys.get(user) ?? []).encoded),
      // The key of somebody else, which everyone can read.
      (of, user) => upload(of, user, pick([...keys.values()].flat()).encoded),
      (of) => change(of, random() < 0.5 ? 'name' : 'configuration'),
    ];
    for (const of of computations) for (const user of users) await approve(of, user);

    const accepted: object[] = [];
    const refused = new Map<number, number>();
    const sameLimits = (one: Given, other: Given) =>
      JSON.stringify([one.cvm_ids, one.expires_at]) === JSON.stringify([other.cvm_ids, other.expires_at]);
    // Until the signature has decided about a third of them.
    for (let made = 0; made < replays || (refused.get(400) ?? 0) <= replays / 3;) {
      if (random() < 0.25) await pick(steps)(pick(computations), pick(users));
      const target = pick(computations);
      const now = await digestsOf(target);
      const isHere = (each: Seen) => each.of === target && each.digest === now.digest;
      const isNow = (each: Seen) => isHere(each) && each.configuration_digest === now.configuration_digest;
      // One thing differs from what was signed, or several do.
      const [suits, isOther] = pick<[(each: Seen) => boolean, 'user' | 'limits' | 'nothing' | 'anything']>([
        [isNow, 'user'],
        [isNow, 'limits'],
        [(each) => isHere(each) && !isNow(each), 'nothing'],
        [() => true, 'anything'],
      ]);
      if (!seen.some(suits)) {
        await (isOther === 'nothing' ? change(target, 'configuration') : approve(target, pick(users)));
        continue;
      }
      const { of, user, key, signature, digest, configuration_digest, cvm_ids, expires_at } = pick(seen.filter(suits));
      const by = isOther === 'user' || isOther === 'anything' ? pick(users) : user;
      if (isOther === 'user' && random() < 0.7) await withdraw(of, user); // one that stands keeps its key from others
      if (isOther !== 'anything' || random() < 0.3) await upload(target, by, key);
      const digests = isOther === 'anything' && random() < 0.7 ? now : { digest, configuration_digest };
      const given = isOther === 'limits' || (isOther === 'anything' && random() < 0.4) ? pick(limits) : { cvm_ids, expires_at };
      const { domain, id } = target;
      // Who sends an own signature again while nothing has changed approves again.
      const isOwn =
        by === user &&
        target === of &&
        now.digest === digest &&
        now.configuration_digest === configuration_digest &&
        sameLimits(given, { cvm_ids, expires_at }) &&
        target.uploaded.get(by) === key;
      if (isOwn) continue;
      made += 1;
      const body = { ...digests, ...given, signature };
      const { status } = await send('approvals/approve', 'POST', domain, { path: { id }, body, by });
      if (status < 300)
        accepted.push({ signed: { user, computation: of.id, digest, cvm_ids, expires_at }, sent: { by, id, ...body } });
      refused.set(status, (refused.get(status) ?? 0) + 1);
    }
    expect(accepted).toEqual([]);
    expect([...refused.keys()].sort()).toEqual([400, 409]);
    expect(refused.get(400)).toBeGreaterThan(replays / 3);
  }, 1_200_000);
});
