import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { cvmBody } from '../../shared/openapi/examples.ts';
import { routes, type RouteName } from '../../shared/endpoints/endpoints.ts';
import { takesKey, type Route } from '../../shared/http/route.ts';
import type { CallRequest } from '../support/client.ts';
import { operationOf } from '../support/openapi-document.ts';
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
};

beforeAll(async () => {
  things.computation = (await session.createComputation()).id;
  things.oldComputation = (await session.createComputation()).id;
  things.ready = await session.readyComputation();
  things.running = await session.readyComputation();
  things.asset = (await session.createAsset()).id;
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
  for (const cvm of [things.registered, things.heldCvm, things.oldCvm]) await session.registerCvm(cvm);
});

type Sent = Omit<CallRequest<'assets/link-asset'>, 'path'> & { path?: Record<string, string> };
type Answers = Partial<Record<number, () => Sent | Promise<Sent>>>;

const path = (id: string) => () => ({ path: { id } });
const of =
  (thing: keyof typeof things, rest: Sent = {}) =>
  () => ({ path: { id: things[thing] }, ...rest });
const unknown = { query: { unknown: 1 } };
const known = { headers: { 'if-none-match': '*' } };
const stale = { headers: { 'if-match': '"of-an-earlier-state"' } };
const asset = (fields: Record<string, unknown>) => ({ asset: { file_name: 'x.csv', asset_type: 'dataset', ...fields } });
const computation = { name: 'N' };
const key = { key: 'MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=' };
const anotherManifest = { digest: '0'.repeat(64), configuration_digest: '0'.repeat(64) };
const heartbeat = (run_id: string) => ({ reports: [{ id: randomUUID(), run_id, type: 'heartbeat' }] });

/** The requests with a bad body that every route with a body has. */
const badBodies = (sent: () => Sent): Answers => ({
  400: () => ({ ...sent(), body: { x: 1 } }),
  413: () => ({ ...sent(), raw: JSON.stringify({ x: 'x'.repeat(7 * 1024 * 1024) }) }),
  415: () => ({ ...sent(), headers: { 'content-type': 'text/plain' } }),
});

const contentTooLarge = asset({ asset: Buffer.alloc(4 * 1024 * 1024 + 1).toString('base64') });
const link = (id: keyof typeof things, computationID: keyof typeof things) => () => ({
  path: { id: things[id], computationID: things[computationID] },
});
async function evidenceOfActiveRun(): Promise<Sent> {
  const id = await session.readyComputation();
  return { path: { id }, query: { run: await session.startRun(id, newCvm()) } };
}
async function ofSharedLog(): Promise<Sent> {
  const id = await session.readyComputation({ log_access: 'parties' });
  await session.startRun(id, newCvm());
  return { path: { id } };
}
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
  'computations/create-computation': { ...badBodies(() => ({ body: computation })), 201: () => ({ body: computation }) },
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
  'logs/read-logs': {
    200: ofSharedLog,
    400: async () => ({ ...(await ofSharedLog()), query: { after: 'x' } }),
    404: path(absent),
  },
  'find/find': { 200: () => ({ query: { q: 'iris' } }), 400: () => ({}) },
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
    if (name === 'assets/link-asset') here.add(413); // for a 101st dataset: test/e2e/limits.test.ts
    if (takesKey(route)) here.add(422); // for another request with the same key: test/e2e/repeats.test.ts
    expect([...here].sort()).toEqual(documented.filter((status) => !ofDependencies.includes(status)));
  });

  const statuses = Object.keys(answers[name]).map(Number);
  const errorsFirst = statuses.sort((a, b) => b - a);
  it.each(errorsFirst)('answers %i', async (status) => {
    const reply = await send((await answers[name][status]?.()) ?? {});
    expect({ status: reply.status, ...(status < 400 ? {} : (reply.body as object)) }).toMatchObject({ status });
  });

  if (!route.access) return;
  const good = async () => (await answers[name][errorsFirst.at(-1) ?? 0]?.()) ?? {};

  it('answers 401 without a token', async () => {
    const { status, headers, body } = await send({ ...(await good()), as: null });
    expect([status, body]).toEqual([401, { message: 'Unauthorized' }]);
    expect(headers.get('www-authenticate')).toContain('Bearer');
  });

  it('answers 403 in a domain where the caller has no role', async () => {
    const sent = await good();
    const { status, body } = await send({ ...sent, path: { ...sent.path, domainID: 'of-somebody-else' } });
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

  it('answers an unknown path with the 404 of API Gateway', async () => {
    const response = await fetch(`${session.target.baseUrl}/no/such/place/here/at/all`);
    expect([response.status, await response.json()]).toEqual([404, { message: 'Not Found' }]);
  });
});
