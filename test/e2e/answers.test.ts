import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { cvmBody } from '../../shared/openapi/examples.ts';
import { routes, type RouteName } from '../../shared/endpoints/endpoints.ts';
import { takesKey, type Route } from '../../shared/http/route.ts';
import type { CallRequest } from '../support/client.ts';
import { amount } from '../support/amounts.ts';
import { operationOf } from '../support/openapi-document.ts';
import { untilTestEnds } from '../support/patience.ts';
import { strictPolicy } from '../support/strict-policy.ts';
import { newCvm, useSession } from '../support/session.ts';

const session = useSession();
const absent = '00000000-0001-8c3a-9f0e-2b7d41c5e6a8';

/** The resources of the requests. `running` has a run on `cvm` that uses the asset `used`; the old ones are deleted by a test. */
const things = {
  computation: '',
  ready: '',
  running: '',
  asset: '',
  used: '',
  algorithm: '',
  cvm: newCvm(),
  registered: newCvm(),
  heldCvm: newCvm(),
  oldCvm: newCvm(),
  run: '',
  over: '',
  endedRun: '',
  oldComputation: '',
  oldAsset: '',
  /** Runs whose result nobody has decided on, and one with a released result. */
  open: { path: { id: '' }, query: { run: '' } },
  decided: { path: { id: '' }, query: { run: '' } },
  keyed: '',
};

beforeAll(async () => {
  things.computation = (await session.createComputation()).id;
  things.oldComputation = (await session.createComputation()).id;
  things.ready = await session.readyComputation();
  things.running = await session.readyComputation();
  things.asset = (await session.createAsset()).id;
  things.keyed = (await session.createAsset()).id;
  await session.setAssetKey(things.keyed);
  things.oldAsset = (await session.createAsset()).id;
  things.used = (await session.createAsset()).id;
  things.algorithm = (await session.createAsset({ asset_type: 'algorithm' })).id;
  await session.link(things.used, things.running);
  things.run = await session.startRun(things.running, things.cvm);
  things.over = await session.readyComputation();
  const cvmOfEnded = newCvm();
  things.endedRun = await session.startRun(things.over, cvmOfEnded);
  await session.endRun(cvmOfEnded);
  await session.startRun(await session.readyComputation(), things.heldCvm);
  things.open = await session.reviewedRun();
  things.decided = await session.reviewedRun();
  const checksum = await session.handIn(things.decided);
  await session.done('results/decide-result', { ...things.decided, body: { decision: 'release', checksum } });
  for (const cvm of [things.registered, things.heldCvm, things.oldCvm]) await session.registerCvm(cvm);
});

type Named = Exclude<keyof typeof things, 'open' | 'decided'>;
type Sent = Omit<CallRequest<'assets/link-asset'>, 'path'> & { path?: Record<string, string> };
type Answers = Partial<Record<number, () => Sent | Promise<Sent>>>;

const resultFile = { file_name: 'counts.csv', size: 1, checksum: 'a'.repeat(64) };
const decision = { decision: 'release', checksum: 'a'.repeat(64) };
const path = (id: string) => () => ({ path: { id } });
const of =
  (thing: Named, rest: Sent = {}) =>
  () => ({ path: { id: things[thing] }, ...rest });
const unknown = { query: { unknown: 1 } };
const known = { headers: { 'if-none-match': '*' } };
const stale = { headers: { 'if-match': '"of-an-earlier-state"' } };
const asset = (fields: Record<string, unknown>) => ({ asset: { file_name: 'x.csv', asset_type: 'dataset', ...fields } });
const computation = { name: 'N' };
const key = { key: 'MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=' };
const keyOfFile = { held: 'party', fingerprint: 'ab'.repeat(32), release_policy: strictPolicy };
const anotherManifest = { digest: '0'.repeat(64), configuration_digest: '0'.repeat(64) };
const heartbeat = (run_id: string) => ({ reports: [{ id: randomUUID(), run_id, type: 'heartbeat' }] });

const mebibyte = 1024 * 1024;
/** The requests with a bad body that every route with a body has. Its function refuses a body over 256 KiB, and the gateway one over 6 MiB. */
const badBodies = (sent: () => Sent, tooLarge = amount({ sample: mebibyte / 2, full: 7 * mebibyte })): Answers => ({
  400: () => ({ ...sent(), body: { x: 1 } }),
  413: () => ({ ...sent(), raw: JSON.stringify({ x: 'x'.repeat(tooLarge) }) }),
  415: () => ({ ...sent(), headers: { 'content-type': 'text/plain' } }),
});

const contentTooLarge = asset({ asset: Buffer.alloc(4 * mebibyte + 1).toString('base64') });
const link = (id: Named, computationID: Named) => () => ({
  path: { id: things[id], computationID: things[computationID] },
});
async function evidenceOfActiveRun(): Promise<Sent> {
  const id = await session.readyComputation();
  return { path: { id }, query: { run: await session.startRun(id, newCvm()) } };
}
/** The path of the newest tile of level 0. */
async function newestTile(): Promise<string> {
  await session.startRun(await session.readyComputation(), newCvm());
  const last = async () => Number((await session.done('history/get-checkpoint', { as: null })).split('\n')[1]) - 1;
  await expect.poll(last, untilTestEnds).toBeGreaterThanOrEqual(0);
  const index = await last();
  return `0/${String(Math.floor(index / 256)).padStart(3, '0')}.p/${(index % 256) + 1}`.replace('.p/256', '');
}
async function ofSharedLog(): Promise<Sent> {
  const id = await session.readyComputation({ log_access: 'parties' });
  await session.startRun(id, newCvm());
  return { path: { id } };
}
const form = (raw: string) => ({
  as: null,
  path: { secret: 'd1.unknown' },
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
  raw,
});
const noLink = () => ({ path: { id: things.asset, computationID: absent } });
const cvm =
  (sent: Sent = {}) =>
  () => ({ path: { cvmID: things.cvm }, as: 'cvm' as const, ...sent });

const registered =
  (cvmID: string | (() => string), sent: Sent = {}) =>
  () => ({ path: { cvmID: typeof cvmID === 'string' ? cvmID : cvmID() }, ...sent });
const registration = { description: 'Rack 4' };

/** The requests that get each answer of a route's contract: the success, and each error except 401, 403, 429 and 5xx. */
const answers: Record<RouteName, Answers> = {
  'computations/create-computation': {
    ...badBodies(() => ({ body: computation }), 7 * mebibyte),
    201: () => ({ body: computation }),
  },
  'computations/list-computations': { 200: () => ({}), 400: () => unknown },
  'computations/get-computation': {
    200: of('computation'),
    304: of('computation', known),
    400: of('computation', unknown),
    404: path(absent),
  },
  'computations/update-computation': {
    ...badBodies(of('computation', { body: computation })),
    200: of('computation', { body: computation }),
    404: () => ({ path: { id: absent }, body: computation }),
    412: of('computation', { body: computation, ...stale }),
  },
  'computations/delete-computation': {
    400: of('computation', unknown),
    404: path(absent),
    409: of('running'),
    412: of('computation', stale),
    204: of('oldComputation'),
  },
  'runs/start-run': {
    400: of('ready'),
    404: () => ({ path: { id: absent }, query: { cvm: 'c' } }),
    422: of('computation', { query: { cvm: 'c' } }),
    409: () => ({ path: { id: things.ready }, query: { cvm: things.cvm } }),
    200: () => ({ path: { id: things.ready }, query: { cvm: newCvm() } }),
  },
  'runs/get-run': { 200: of('running'), 400: of('running', unknown), 404: of('asset') },
  'runs/list-runs': { 200: () => ({}), 400: () => ({ query: { limit: 0 } }) },
  'statistics/get-statistics': { 200: () => ({}), 400: () => ({ query: { days: 0 } }) },
  'keys/upload-key': {
    ...badBodies(of('ready', { body: key })),
    200: of('ready', { body: key }),
    404: () => ({ path: { id: absent }, body: key }),
  },
  'keys/check-key': { 200: of('ready'), 400: of('ready', unknown), 404: path(absent) },
  'runs/dry-run': { 200: of('ready'), 400: of('ready', unknown), 404: path(absent) },
  'runs/stop-run': { 400: of('running', unknown), 404: path(absent), 409: of('computation'), 200: of('running') },
  'runs/get-manifest': { 200: of('ready'), 400: of('ready', unknown), 404: path(absent), 422: of('computation') },
  'attestation/get-attestation': { 200: of('over'), 400: of('over', unknown), 404: path(absent) },
  'evidence/get-evidence': {
    200: () => ({ path: { id: things.over }, query: { run: things.endedRun } }),
    400: of('over'),
    404: of('over', { query: { run: absent } }),
    409: evidenceOfActiveRun,
  },
  'results/hand-in-result': {
    ...badBodies(() => ({ ...things.open, body: { file_name: 'x.csv' } })),
    201: () => ({ ...things.open, body: resultFile }),
    404: () => ({ path: { id: absent }, query: things.open.query, body: resultFile }),
    409: () => ({ ...things.decided, body: resultFile }),
    413: () => ({ ...things.open, body: { ...resultFile, size: 5 * 1024 ** 3 + 1 } }),
  },
  'results/decide-result': {
    ...badBodies(() => ({ ...things.decided, body: {} })),
    200: async () => {
      const reviewed = await session.reviewedRun();
      return { ...reviewed, body: { decision: 'withhold', checksum: await session.handIn(reviewed) } };
    },
    404: () => ({ path: { id: absent }, query: things.open.query, body: decision }),
    409: () => ({ ...things.decided, body: decision }),
  },
  'results/get-result': {
    200: () => things.decided,
    400: () => ({ path: things.open.path }),
    404: () => ({ path: things.decided.path, query: { run: absent } }),
    409: () => things.open,
  },
  'assets/create-asset': {
    ...badBodies(() => ({ body: asset({}) })),
    201: () => ({ body: asset({}) }),
    413: () => ({ body: contentTooLarge }),
  },
  'assets/list-assets': { 200: () => ({}), 400: () => ({ query: { offset: -1 } }) },
  'assets/get-asset': { 200: of('asset'), 304: of('asset', known), 400: of('asset', unknown), 404: path(absent) },
  'assets/update-asset': {
    ...badBodies(of('asset', { body: asset({}) })),
    200: of('asset', { body: asset({}) }),
    413: of('asset', { body: contentTooLarge }),
    404: () => ({ path: { id: absent }, body: asset({}) }),
    409: () => ({ path: { id: things.used }, body: asset({ asset_type: 'algorithm' }) }),
    412: of('asset', { body: asset({}), ...stale }),
  },
  'assets/delete-asset': {
    400: of('asset', unknown),
    404: path(absent),
    409: of('used'),
    412: of('asset', stale),
    204: of('oldAsset'),
  },
  'assets/set-asset-key': {
    ...badBodies(of('keyed', { body: keyOfFile })),
    200: of('keyed', { body: keyOfFile }),
    404: () => ({ path: { id: absent }, body: keyOfFile }),
    409: of('asset', { body: { ...keyOfFile, release_policy: null } }),
  },
  'assets/get-asset-key': { 200: of('keyed'), 400: of('keyed', unknown), 404: of('asset') },
  'assets/remove-asset-key': { 400: of('keyed', unknown), 404: path(absent), 204: of('asset') },
  'assets/link-asset': {
    200: link('asset', 'ready'),
    404: noLink,
    409: link('algorithm', 'ready'),
    400: () => ({ ...link('asset', 'ready')(), ...unknown }),
  },
  'assets/list-linked-computations': { 200: of('used'), 400: of('used', { query: { limit: 101 } }), 404: path(absent) },
  'assets/unlink-asset': {
    200: link('asset', 'ready'),
    404: noLink,
    400: () => ({ ...link('asset', 'ready')(), ...unknown }),
  },
  'events/list-events': { 200: of('ready'), 400: of('ready', { query: { from: 'then' } }), 404: path(absent) },
  'events/get-status': { 200: of('ready'), 400: of('ready', unknown), 404: path(absent) },
  'cvms/list-commands': { 200: cvm(), 400: cvm(unknown) },
  'cvms/report': {
    ...badBodies(cvm({ body: heartbeat(absent) })),
    200: () => cvm({ body: heartbeat(things.run) })(),
  },
  'approvals/approve': {
    ...badBodies(of('ready', { body: anotherManifest })),
    201: async () => ({ path: { id: things.running }, body: await session.digestsOf(things.running) }),
    404: () => ({ path: { id: absent }, body: anotherManifest }),
    409: of('ready', { body: anotherManifest }),
    422: of('computation', { body: anotherManifest }),
  },
  'approvals/list-approvals': { 200: of('ready'), 400: of('ready', unknown), 404: path(absent) },
  'approvals/withdraw-approval': { 204: of('ready'), 400: of('ready', unknown), 404: path(absent) },
  'keys/remove-key': { 204: of('computation'), 400: of('computation', unknown), 404: path(absent) },
  'todo/get-todo': { 200: () => ({}), 400: () => unknown },
  'notifications/set-notifications': {
    ...badBodies(() => ({ body: { email: false } })),
    409: () => ({ body: { email: true } }),
    200: () => ({ body: { email: false } }),
  },
  'notifications/get-notifications': { 200: () => ({}), 400: () => unknown },
  'notifications/unsubscribe': {
    400: () => ({ ...form('x=1'), path: { secret: 'd1.x' } }),
    404: () => form('List-Unsubscribe=One-Click'),
    413: () => form(`x=${'x'.repeat(5_000)}`),
    415: () => ({ ...form('List-Unsubscribe=One-Click'), headers: { 'content-type': 'application/json' } }),
  },
  'notifications/show-unsubscribe': {
    200: () => ({ as: null, path: { secret: 'any' } }),
    400: () => ({ as: null, path: { secret: 'any' }, ...unknown }),
  },
  'logs/read-logs': {
    200: ofSharedLog,
    400: async () => ({ ...(await ofSharedLog()), query: { after: 'x' } }),
    404: path(absent),
  },
  'find/find': { 200: () => ({ query: { q: 'iris' } }), 400: () => ({}) },
  'releases/list-releases': { 200: () => ({}), 400: () => ({ query: { nonce: 'short' } }) },
  'releases/answer-release': {
    ...badBodies(path(absent)),
    404: () => ({ path: { id: absent }, body: { refusal: 'No.' } }),
  },
  'releases/auth': {
    ...badBodies(() => ({ as: null })),
    400: () => ({ as: null, raw: '{' }),
    401: () => ({ as: null, body: { version: '0.1.0' } }),
    200: () => ({ as: null, body: { version: '0.4.0', tee: 'snp', 'extra-params': '' } }),
  },
  'releases/attest': {
    ...badBodies(() => ({ as: null }), 7 * mebibyte),
    400: () => ({ as: null, raw: '{' }),
    403: () => ({ as: null, body: {} }),
  },
  'releases/get-key': {
    400: () => ({ as: null, path: { resource: `${absent}/key/1` }, ...unknown }),
    401: () => ({ as: null, path: { resource: `${absent}/key/1` } }),
    404: () => ({ as: null, path: { resource: `${absent}/key/2` } }),
  },
  'cvms/list-cvms': { 200: () => ({}), 400: () => ({ query: { limit: 0 } }) },
  'cvms/get-cvm': {
    200: registered(things.registered),
    304: registered(things.registered, known),
    400: registered(things.registered, unknown),
    404: registered('nobody-registered-this'),
  },
  'cvms/register-cvm': {
    ...badBodies(registered(things.registered, { body: registration })),
    409: registered(things.heldCvm, { body: { ...registration, certificate: cvmBody.certificate } }),
    412: registered(things.registered, { body: registration, ...stale }),
    201: registered(newCvm, { body: registration }),
    200: registered(things.registered, { body: registration }),
  },
  'cvms/delete-cvm': {
    400: registered(things.registered, unknown),
    404: registered('nobody-registered-this'),
    409: registered(things.heldCvm),
    412: registered(things.registered, stale),
    204: registered(things.oldCvm),
  },
  'service/health': { 200: () => ({ as: null }), 400: () => ({ as: null, ...unknown }) },
  'service/openapi': { 200: () => ({ as: null }), 400: () => ({ as: null, ...unknown }) },
  'service/jwks': { 200: () => ({ as: null }), 400: () => ({ as: null, ...unknown }) },
  'history/get-checkpoint': { 200: () => ({ as: null }), 400: () => ({ as: null, ...unknown }) },
  'history/get-tile': {
    200: async () => ({ as: null, path: { tile: await newestTile() } }),
    400: async () => ({ as: null, path: { tile: await newestTile() }, ...unknown }),
    404: () => ({ as: null, path: { tile: '5/999' } }),
  },
};

/** The answers that take more than a request to this service, and other tests of them. */
const elsewhere: Partial<Record<RouteName, readonly number[]>> = {
  'notifications/unsubscribe': [200], // for the link of a mail: test/shared/notifications/
  'assets/link-asset': [413], // for a 101st dataset: test/e2e/limits.test.ts
  // for the guest of a run: test/shared/releases/releases.service.test.ts
  'releases/answer-release': [200, 409],
  'releases/attest': [200, 401],
  'releases/get-key': [200, 403],
};

/** Answers that no request can provoke. */
const ofDependencies = [429, 500, 503];

describe.each(routes as readonly Route[])('$method $path', (route) => {
  const name = route.name as RouteName;
  const send = async (sent: Sent) => {
    const request = { method: route.method, ...sent } as unknown as CallRequest<RouteName>;
    return await session.call(name, request);
  };

  it('is tested for exactly the statuses of the OpenAPI document', () => {
    const documented = Object.keys(operationOf(session.document, route.method, route.path).responses).map(Number);
    const here = new Set([...Object.keys(answers[name]).map(Number), ...(route.access ? [401, 403] : [])]);
    for (const status of elsewhere[name] ?? []) here.add(status);
    if (takesKey(route)) here.add(422); // for another request with the same key: test/e2e/repeats.test.ts
    expect([...here].sort()).toEqual(documented.filter((status) => !ofDependencies.includes(status)));
  });

  const statuses = Object.keys(answers[name]).map(Number);
  const errorsFirst = statuses.sort((a, b) => b - a);
  /** The last request: that of the success. Whether it could succeed again does not matter to those who refuse it. */
  let last: Sent = {};
  it.each(errorsFirst)('answers %i', async (status) => {
    last = (await answers[name][status]?.()) ?? {};
    const reply = await send(last);
    expect({ status: reply.status, ...(status < 400 ? {} : (reply.body as object)) }).toMatchObject({ status });
  });

  if (!route.access) return;

  it('answers 401 without a token', async () => {
    const { status, headers, body } = await send({ ...last, as: null });
    expect([status, body]).toEqual([401, { message: 'Unauthorized' }]);
    expect(headers.get('www-authenticate')).toContain('Bearer');
  });

  it('answers 403 in a domain where the caller has no role', async () => {
    const { status, body } = await send({ ...last, path: { ...last.path, domainID: 'of-somebody-else' } });
    expect({ status, ...(body as object) }).toMatchObject({ status: 403, code: 'forbidden' });
  });
});

describe('the service', () => {
  it('answers /health with its status, stage and version without a token', async () => {
    const { body } = await session.call('service/health', { as: null });
    expect(body).toEqual({ status: 'ok', stage: expect.any(String), version: session.document.info.version });
  });

  it('serves its OpenAPI document without a token', async () => {
    expect((await session.done('service/openapi', { as: null })).openapi).toBe('3.1.0');
  });

  it('takes the path of a tile in its one spelling alone', async () => {
    const statusOf = async (tile: string) => (await fetch(`${session.target.baseUrl}/log/tile/${tile}`)).status;
    const others = ['entries/x001/000', 'ENTRIES/X001/000', 'entries/x', 'entries'];
    expect(await Promise.all(others.map(statusOf))).toEqual([404, 404, 404, 404]);
  });

  it('answers an unknown path with the 404 of API Gateway', async () => {
    const response = await fetch(`${session.target.baseUrl}/no/such/place/here/at/all`);
    expect([response.status, await response.json()]).toEqual([404, { message: 'Not Found' }]);
  });
});
