import { createHmac, createPublicKey } from 'node:crypto';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { type Role, roles } from 'computation-management-formats/vocabulary';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { InvokeFunction } from '../../local/functions/local-functions.ts';
import { startHttpApi } from '../../local/http-api/http-api.ts';
import { openIssuer, type LocalIssuer } from '../../local/sign-in/issuer.ts';
import { startStack, type Stack } from '../../local/stack.ts';
import type { Relation } from '../../shared/http/caller.ts';
import { routes } from '../../shared/endpoints/endpoints.ts';
import { examples } from '../../shared/openapi/examples.ts';
import type { HttpResponse } from '../../shared/http/problem.ts';
import { answersHead, takesKey, type Route } from '../../shared/http/route.ts';
import { newCertificate } from '../support/cvm-certificate.ts';
import { actionsOf, mayCall, nameOf, needsOf } from './decisions.ts';
import { systemClock } from '../../shared/runtime/deadline.ts';

const rows = routes as readonly Route[];
const guarded = rows.filter((route) => route.access);
const isOfCvm = ({ access }: Route) => access?.anyOf[0] === 'operate_cvm';
const kinds = Map.groupBy(guarded, (route) => [takesKey(route), route.waits, isOfCvm(route)].join());
const oneOfEachKind = [...kinds.values()].flatMap((routes) => routes.slice(0, 1));
const allRoles = Object.keys(actionsOf) as Role[];
const stranger = 'stranger';

let stack: Stack;
let issuer: LocalIssuer;
let foreignIssuer: LocalIssuer;
let gateway: Awaited<ReturnType<typeof startHttpApi>>;
/** The bodies that functions returned for HEAD. */
const bodiesOfHead: unknown[] = [];
let badHeaders: Awaited<ReturnType<typeof refusedHeaders>>;

/** Puts another gateway in front of the stack's functions, because some tokens here are ones that the stack's issuer never gives. */
beforeAll(async () => {
  stack = await startStack({ port: 0, simulator: false });
  issuer = await openIssuer({ claim: 'cognito:groups' });
  foreignIssuer = await openIssuer({ claim: 'cognito:groups' });
  const authorizer = { issuer: issuer.url, audience: issuer.audience, keys: issuer.keys };
  const invoke: InvokeFunction = async (name, event) => {
    const result = (await stack.invoke(name, event)) as HttpResponse;
    if ((event as APIGatewayProxyEventV2).requestContext.http.method === 'HEAD') bodiesOfHead.push(result.body);
    return result;
  };
  gateway = await startHttpApi({ routes, authorizer, invoke, clock: systemClock, port: 0 });
  badHeaders = await refusedHeaders();
  await done('computations/create-computation', administrator('related'), {});
  await done('assets/create-asset', administrator('related'), {});
});

afterAll(async () => {
  await gateway.stop();
  await stack.stop();
});

interface Someone {
  sub: string;
  roles: Role[];
}

const tokens = new Map<string, Promise<string>>();

function tokenFor({ sub, roles: held }: Someone): Promise<string> {
  const key = [sub, ...held].join();
  const token = tokens.get(key) ?? issuer.mintToken({ sub, groups: held.map((role) => `d1:${role}`) });
  tokens.set(key, token);
  return token;
}

type Sent = Omit<Route, 'method'> & { method: string };

async function send(route: Sent, authorization: string | undefined, path: Record<string, string>, body?: unknown) {
  const address = route.path.replace(/\{(\w+)\+?\}/g, (_, name: string) => path[name] ?? '');
  const response = await fetch(`${gateway.endpoint}${address}${queryOf(route, path)}`, {
    method: route.method,
    headers: {
      ...(authorization === undefined ? {} : { authorization }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    body: (text.startsWith('{') ? JSON.parse(text) : {}) as Record<string, unknown>,
    headers: response.headers,
  };
}

/** Returns the query that a route demands: the CVM of a start, and the run of a result. */
function queryOf({ name }: { name: string }, { id = '', run = '' }: Record<string, string>): string {
  if (name === 'runs/start-run') return `?cvm=${id}`;
  return name.startsWith('results/') ? `?run=${run}` : '';
}

/** The examples are valid bodies, so access alone decides the answer. */
const bodies = new Map<string, unknown>(
  Object.entries(examples).flatMap(([name, example]) => ('request' in example ? [[name, example.request]] : [])),
);

/** The body of a refusal, which providers may send whom the computation names, beside those who may approve. */
const refusal = { decision: 'refuse', reason: 'Not yet.' };

/** The users who have each relation to the resources of a call. A participant has uploaded a key without being a consumer. */
type Parties = Record<Relation | 'participant', string>;

const administrator = (sub: string): Someone => ({ sub, roles: ['administrator'] });

/** Calls a route by name as a step of a test. */
async function done(name: string, someone: Someone, path: Record<string, string>, body = bodies.get(name)) {
  const row = rows.find((other) => other.name === name && other.method !== 'GET');
  if (!row) throw new Error(`There is no ${name}.`);
  const answer = await send(row, `Bearer ${await tokenFor(someone)}`, { domainID: 'd1', ...path }, body);
  if (answer.status >= 300) throw new Error(`${name} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  return String(answer.body['id']);
}

const isOfResult = ({ name }: Route) => name.startsWith('results/');
const hasRun = (route: Route) => ['runs/stop-run', 'logs/read-logs'].includes(route.name) || isOfResult(route);
const isOfAsset = ({ path }: Route) => path.startsWith('/{domainID}/assets/');
/** Says whether the computation of a call has a creator of assets and a consumer. */
const hasParties = (route: Route, { creator, consumer, participant }: Parties) =>
  !isOfAsset(route) &&
  (hasRun(route) ||
    route.access?.or?.some((relation) => relation !== 'owner') ||
    [creator, consumer, participant].some((user) => user !== stranger));
const isReviewed = (route: Route, { reviewer }: Parties) => isOfResult(route) || reviewer !== stranger;
/** Returns the reviewer of a computation's results, who is not its owner or consumer. */
const reviewerOf = ({ reviewer }: Parties) => (reviewer === stranger ? 'rita' : reviewer);

/** Lets the creator and the consumer take part in a computation. Starts a run of it if the route stops one. */
async function addParties(route: Route, id: string, parties: Parties): Promise<void> {
  const { owner, creator, consumer, participant } = parties;
  const { asset } = bodies.get('assets/create-asset') as { asset: object };
  const algorithm = { asset: { ...asset, asset_type: 'algorithm', use: 'open' } };
  const assetId = await done('assets/create-asset', administrator(creator), {}, algorithm);
  await done('assets/link-asset', administrator(owner), { id: assetId, computationID: id });
  await done('keys/upload-key', { sub: consumer, roles: ['result_consumer'] }, { id });
  if (participant !== stranger) await done('keys/upload-key', { sub: participant, roles: ['viewer'] }, { id });
  if (isReviewed(route, parties)) await done('keys/upload-key', { sub: reviewerOf(parties), roles: ['viewer'] }, { id });
  if (!hasRun(route)) return;
  await done('keys/upload-key', administrator(owner), { id });
  await done('runs/start-run', administrator(owner), { id });
}

/** Creates the resources in the route's path for one call: a computation of `owner`, an asset of `creator`. */
async function resources(route: Route, parties: Parties): Promise<Record<string, string>> {
  const { owner, creator } = parties;
  const names = (parameter: string) => route.path.includes(`{${parameter}}`);
  const computation = async () => {
    const fields = bodies.get('computations/create-computation') as object;
    const shared = route.name === 'logs/read-logs' ? { log_access: 'parties', providers: [creator] } : {};
    const named = parties.provider === stranger ? {} : { providers: [parties.provider, creator] };
    const review = { consumers: ['carla'], result_review: { reviewers: [reviewerOf(parties)], needed: 1 } };
    const all = { ...fields, ...shared, ...named, ...(isReviewed(route, parties) ? review : {}) };
    const id = await done('computations/create-computation', administrator(owner), {}, all);
    if (hasParties(route, parties)) await addParties(route, id, parties);
    return id;
  };
  const paths = {
    domainID: 'd1',
    cvmID: isOfCvm(route) ? 'cvm-1' : 'gw-1', // the second one gets a certificate
    ...(names('computationID') ? { computationID: await computation() } : {}),
    ...(names('id')
      ? { id: isOfAsset(route) ? await done('assets/create-asset', administrator(creator), {}) : await computation() }
      : {}),
  };
  if (!isOfResult(route)) return paths;
  const getRun = rows.find(({ name }) => name === 'runs/get-run') as Route;
  const run = await send(getRun, `Bearer ${await tokenFor(administrator(owner))}`, paths);
  return { ...paths, run: String(run.body['id']) };
}

/** Resources that no call has changed yet, for the next call with these parties on a route that needs the same. */
const unchanged = new Map<string, Record<string, string>>();

function keyOf(route: Route, parties: Parties): string {
  const [, , noun, ...parameters] = route.path.split('/').filter((part, at) => at < 3 || part.startsWith('{'));
  const ofRun = hasRun(route) && route.name.split('/')[0];
  return JSON.stringify([noun, parameters, isOfCvm(route), ofRun, hasParties(route, parties), parties]);
}

/** Returns resources of these parties that no call has changed. */
async function unchangedResources(route: Route, parties: Parties): Promise<Record<string, string>> {
  const key = keyOf(route, parties);
  const path = unchanged.get(key) ?? (await resources(route, parties));
  unchanged.set(key, path);
  return path;
}

/** The reads that HEAD was compared with, by their route and status. */
const compared = new Set<string>();

/** Returns whether the caller has access. Checks that the answer is 403 if not, and never 401, 500 or 503. */
async function isAllowed(
  route: Route,
  someone: Someone,
  parties: Parties,
  given: unknown = bodies.get(route.name),
): Promise<boolean> {
  const path = await unchangedResources(route, parties);
  const { status, body } = await send(route, `Bearer ${await tokenFor(someone)}`, path, given);
  expect([401, 500, 503]).not.toContain(status);
  if (status === 403) expect(body).toMatchObject({ code: 'forbidden', status: 403 });
  const read = `${nameOf(route)} ${status}`;
  if (answersHead(route, rows) && !compared.has(read)) await expectHead(route, someone, path, status);
  compared.add(read);
  const isRead = route.name === 'runs/dry-run' || (route.method === 'GET' && route.name !== 'runs/stop-run');
  if (status < 300 && !isRead) unchanged.delete(keyOf(route, parties));
  return status !== 403;
}

/** Checks that HEAD answers with the status of GET, and that the function leaves out the body. */
async function expectHead(route: Route, someone: Someone, path: Record<string, string>, status: number): Promise<void> {
  bodiesOfHead.length = 0;
  const answer = await send({ ...route, method: 'HEAD' }, `Bearer ${await tokenFor(someone)}`, path);
  expect([answer.status, bodiesOfHead]).toEqual([status, ['']]);
}

const ownedByOthers: Parties = {
  owner: stranger,
  creator: stranger,
  consumer: stranger,
  provider: stranger,
  reviewer: stranger,
  participant: stranger,
};

describe('the roles and the access of each route', () => {
  it('match the tables copied from docs/contract.md', () => {
    const ofCode = Object.entries(roles).map(([role, actions]) => [role, [...actions].sort()]);
    const decided = Object.entries(actionsOf).map(([role, actions]) => [role, actions.split(' ').sort()]);
    expect(ofCode).toEqual(decided);
    for (const route of rows) {
      const { anyOf = [], or = [] } = route.access ?? {};
      expect([nameOf(route), [...anyOf, ...or].sort().join(' or ')]).toEqual([
        nameOf(route),
        needsOf(nameOf(route)).split(' or ').sort().join(' or '),
      ]);
    }
  });
});

describe.each(guarded)('$method $path', (route) => {
  const endpoint = nameOf(route);

  it.each(allRoles)('allows the role %s or answers 403 as docs/contract.md says', async (role) => {
    const isDataset = route.name !== 'assets/create-asset' || role !== 'algo_provider'; // the body is a dataset's
    expect(await isAllowed(route, { sub: 'member', roles: [role] }, ownedByOthers)).toBe(
      isDataset && mayCall(endpoint, [role], []),
    );
  });

  it('allows a member with two roles if one of them is enough', async () => {
    for (const pair of [
      ['editor', 'runner'],
      ['viewer', 'cvm'],
      ['dataset_provider', 'creator'],
    ] as Role[][]) {
      expect([pair, await isAllowed(route, { sub: 'member', roles: pair }, ownedByOthers)]).toEqual([
        pair,
        mayCall(endpoint, pair, []),
      ]);
    }
  });

  it('allows an owner, creator or consumer with a role', async () => {
    const sub = 'related';
    const isOfComputation = route.path.startsWith('/{domainID}/computations/{id}');
    const relations = {
      owner: !isOfAsset(route) || route.path.includes('{computationID}'),
      creator: isOfAsset(route) || isOfComputation,
      consumer: isOfComputation,
      reviewer: isOfComputation,
    };
    for (const relation of ['owner', 'creator', 'consumer', 'reviewer'] as const) {
      const expected = mayCall(endpoint, ['viewer'], relations[relation] ? [relation] : []);
      expect([relation, await isAllowed(route, { sub, roles: ['viewer'] }, { ...ownedByOthers, [relation]: sub })]).toEqual([
        relation,
        expected,
      ]);
    }
    expect(await isAllowed(route, { sub, roles: [] }, { ...ownedByOthers, owner: sub, creator: sub, consumer: sub })).toBe(false);
  });

  it('allows a named provider what the role allows, and a refusal', async () => {
    const sub = 'related';
    const parties = { ...ownedByOthers, provider: sub };
    const isOfRole = mayCall(endpoint, ['viewer'], []);
    expect(await isAllowed(route, { sub, roles: ['viewer'] }, parties)).toBe(isOfRole);
    if (route.name !== 'approvals/approve') return;
    const isDecided = mayCall(endpoint, ['viewer'], ['provider']);
    expect([isDecided, await isAllowed(route, { sub, roles: ['viewer'] }, parties, refusal)]).toEqual([true, true]);
    for (const relation of ['owner', 'creator', 'consumer', 'reviewer'] as const) {
      expect(await isAllowed(route, { sub, roles: ['viewer'] }, { ...ownedByOthers, [relation]: sub }, refusal)).toBe(true);
    }
    for (const role of allRoles) expect(await isAllowed(route, { sub, roles: [role] }, ownedByOthers, refusal)).toBe(false);
    expect(await isAllowed(route, { sub, roles: ['viewer'] }, { ...ownedByOthers, participant: sub }, refusal)).toBe(false);
  });

  it('allows a participant, the owner of another computation and the creator of an unlinked asset what their role allows', async () => {
    const sub = 'related';
    for (const roles of [['viewer'], ['cvm']] as Role[][]) {
      const expected = mayCall(endpoint, roles, []);
      expect([roles, await isAllowed(route, { sub, roles }, { ...ownedByOthers, participant: sub })]).toEqual([roles, expected]);
    }
  });

  it('answers 403 to members of another domain', async () => {
    const path = await unchangedResources(route, ownedByOthers);
    const token = await issuer.mintToken({ sub: stranger, groups: ['d2:administrator', 'd2:cvm'] });
    expect((await send(route, `Bearer ${token}`, path, bodies.get(route.name))).status).toBe(403);
  });

  it('answers 401 without a token and to a forged one', async () => {
    const path = { domainID: 'd1', id: 'x', computationID: 'y', cvmID: 'z' };
    for (const what of ['no header', 'another payload'] as const)
      expect([what, (await send(route, badHeaders[what], path)).status]).toEqual([what, 401]);
  });
});

describe.each(oneOfEachKind)('$method $path, for all of its kind, whose tokens and memberships the same code checks', (route) => {
  it('answers 403 to other domains and malformed memberships', async () => {
    const path = await unchangedResources(route, ownedByOthers);
    const groups = [
      ['d2:administrator', 'd2:cvm'],
      ['d1', 'administrator', 'cvm', ':administrator'],
      ['d1:Administrator', 'd1:root', 'd1:', 'D1:administrator', 'd1:__proto__', 'd1:constructor'],
      ['xd1:administrator', 'x:d1:administrator', 'd1:administrator:x', 'd1 :administrator'],
    ];
    for (const group of groups) {
      const token = await issuer.mintToken({ sub: stranger, groups: group });
      const { status } = await send(route, `Bearer ${token}`, path, bodies.get(route.name));
      expect([group, status]).toEqual([group, 403]);
    }
  });

  it('answers 401 to every token that is not valid', async () => {
    const path = { domainID: 'd1', id: 'x', computationID: 'y', cvmID: 'z' };
    for (const [what, authorization] of Object.entries(badHeaders)) {
      const { status, body, headers } = await send(route, authorization, path);
      expect([what, status, body]).toEqual([what, 401, { message: 'Unauthorized' }]);
      expect(headers.get('www-authenticate')).toMatch(/^Bearer/);
    }
  });
});

describe('the routes that stand for all of their kind', () => {
  it('are a read, a change, one that waits, and the two of CVMs', () => {
    expect(oneOfEachKind.map((route) => [takesKey(route), route.waits ?? false, isOfCvm(route)]).sort()).toEqual([
      [false, false, false],
      [false, false, true],
      [false, true, false],
      [false, true, true],
      [true, false, false],
    ]);
  });
});

describe('a token that is bound to a CVM', () => {
  const ofCvm = guarded.filter(isOfCvm);
  const statusOf = async (route: Route, groups: string[], cvmID: string) => {
    const token = await issuer.mintToken({ sub: 'machine', groups });
    const { status, body } = await send(route, `Bearer ${token}`, { domainID: 'd1', cvmID }, bodies.get(route.name));
    if (status === 403) expect(body).toMatchObject({ code: 'forbidden' });
    return status;
  };

  it.each(ofCvm)('is accepted for that CVM only: $method $path', async (route) => {
    expect(ofCvm).toHaveLength(2);
    expect(await statusOf(route, ['d1:cvm:cvm-1'], 'cvm-1')).toBe(200);
    for (const other of ['cvm-2', 'cvm', 'cvm-1:', 'CVM-1', 'cvm-11']) {
      expect([other, await statusOf(route, ['d1:cvm:cvm-1'], other)]).toEqual([other, 403]);
    }
  });

  it.each(ofCvm)('reaches a CVM whose identifier contains colons: $method $path', async (route) => {
    expect(await statusOf(route, ['d1:cvm:rack:4:cvm'], 'rack:4:cvm')).toBe(200);
    for (const other of ['rack', 'rack:4', 'cvm', '4:cvm']) expect(await statusOf(route, ['d1:cvm:rack:4:cvm'], other)).toBe(403);
  });

  it.each(ofCvm)('reaches no CVM with a certificate, whatever it is bound to: $method $path', async (route) => {
    const administrators = await issuer.mintToken({ sub: 'alice', groups: ['d1:administrator'] });
    const register = rows.find(({ name }) => name === 'cvms/register-cvm') ?? route;
    const registered = { domainID: 'd1', cvmID: 'gw-2' };
    const given = { description: '', certificate: await newCertificate() };
    expect((await send(register, `Bearer ${administrators}`, registered, given)).status).toBeLessThan(300);
    const groups = [...allRoles.map((role) => [`d1:${role}`]), ['d1:cvm:gw-2'], ['d1:cvm:cvm-1'], ['d1:cvm', 'd1:administrator']];
    for (const held of groups) {
      const token = await issuer.mintToken({ sub: 'machine', groups: held });
      const { status, body } = await send(route, `Bearer ${token}`, registered, bodies.get(route.name));
      const opens = held.includes('d1:cvm') || held.includes('d1:cvm:gw-2');
      expect([held, status, body['reason']]).toEqual([held, 403, opens ? 'gateway_only' : undefined]);
    }
  });

  it.each(ofCvm)('adds up with other memberships: $method $path', async (route) => {
    const both = ['d1:cvm:cvm-1', 'd1:viewer', 'd1:cvm:cvm-2'];
    expect(await Promise.all(['cvm-1', 'cvm-2', 'cvm-3'].map((cvm) => statusOf(route, both, cvm)))).toEqual([200, 200, 403]);
    expect(await statusOf(route, ['d1:cvm:cvm-1', 'd1:cvm'], 'cvm-3')).toBe(200);
    expect(await statusOf(route, ['d2:cvm:cvm-1'], 'cvm-1')).toBe(403);
    expect(await statusOf(route, ['d1:cvm:cvm-1', 'd2:cvm'], 'cvm-2')).toBe(403);
  });

  it('may have a name that is reserved for events, which nobody can make an owner', async () => {
    const authorization = `Bearer ${await issuer.mintToken({ sub: 'agent', groups: ['d1:cvm'] })}`;
    const statusOf = async (route: Route, path: Record<string, string>) =>
      (await send(route, authorization, { domainID: 'd1', ...path }, bodies.get(route.name))).status;
    for (const route of ofCvm) expect(await statusOf(route, { cvmID: 'cvm-1' })).toBe(200);
    const create = done('computations/create-computation', administrator(stranger), {}, { name: 'N', owner: 'agent' });
    await expect(create).rejects.toThrow('/owner');
    const id = await done('computations/create-computation', administrator(stranger), {}, { name: 'N' });
    const forOwners = guarded.filter(({ path, access }) => path.includes('/computations/{id}') && access?.or);
    expect(forOwners).toHaveLength(9);
    for (const route of forOwners) expect([nameOf(route), await statusOf(route, { id })]).toEqual([nameOf(route), 403]);
  });

  it.each(guarded.filter((route) => !ofCvm.includes(route)))('is refused with 403: $method $path', async (route) => {
    const path = await unchangedResources(route, ownedByOthers);
    const token = await issuer.mintToken({ sub: 'machine', groups: ['d1:cvm:cvm-1'] });
    expect((await send(route, `Bearer ${token}`, path, bodies.get(route.name))).status).toBe(403);
  });
});

/** Tells whether an endpoint without a token needs a body, a session or a secret, so that its function refuses an empty request. */
const isOfKeys = ({ name }: { name: string }) => name.startsWith('releases/') || name.endsWith('unsubscribe');

describe.each(rows.filter((route) => !route.access && isOfKeys(route)))('$method $path', (route) => {
  it('is answered by its function, and never by the authorizer', async () => {
    for (const token of [undefined, 'Bearer x.y.z']) {
      const { status, body } = await send(route, token, { domainID: 'd1', resource: 'a/key/1', secret: 'x'.repeat(43) });
      if (status !== 200) expect([status, body['code']]).toEqual([status, expect.any(String)]); // the authorizer's answer has no code
    }
  });
});

describe.each(rows.filter((route) => !route.access && !isOfKeys(route)))('$method $path', (route) => {
  it('answers without a token and with an invalid one', async () => {
    const [path, status] = route.path.endsWith('+}') ? [{ tile: '0/999' }, 404] : [{}, 200]; // the log has no such tile
    expect((await send(route, undefined, path)).status).toBe(status);
    expect((await send(route, 'Bearer x.y.z', path)).status).toBe(status);
    expect((await send({ ...route, method: 'HEAD' }, undefined, path)).status).toBe(status);
  });
});

const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
const decoded = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString()) as object;

/** Authorization headers that every guarded route must refuse, by what is wrong with them. */
async function refusedHeaders(): Promise<Record<string, string | undefined>> {
  const good = await tokenFor({ sub: 'member', roles: allRoles });
  const [, payload = '', signature = ''] = good.split('.');
  const groups = allRoles.map((role) => `d1:${role}`);
  return {
    'no header': undefined,
    'an empty one': '',
    'no scheme': good,
    'another scheme': `Basic ${good}`,
    'no token': 'Bearer ',
    'no JWT': 'Bearer x.y.z',
    'an expired one': `Bearer ${await issuer.mintToken({ sub: 'member', groups, expiresInSeconds: -10 })}`,
    'another audience': `Bearer ${await issuer.mintToken({ sub: 'member', groups, audience: 'somebody-else' })}`,
    'another issuer': `Bearer ${await foreignIssuer.mintToken({ sub: 'member', groups })}`,
    'another issuer’s signature': `Bearer ${good.split('.').slice(0, 2).join('.')}.${(await foreignIssuer.mintToken({ sub: 'member', groups })).split('.')[2]}`,
    'alg none': `Bearer ${encoded({ alg: 'none', typ: 'JWT' })}.${payload}.`,
    'alg none, signed': `Bearer ${encoded({ alg: 'none', typ: 'JWT' })}.${payload}.${signature}`,
    'HS256 by the public key': `Bearer ${await signedWithPublicKey(good)}`,
    'another payload': `Bearer ${good.split('.')[0]}.${encoded({ ...decoded(payload), sub: 'root' })}.${signature}`,
  };
}

/** Signs with HS256 and the issuer's public key as secret, in PEM: an algorithm confusion attack. */
async function signedWithPublicKey(good: string): Promise<string> {
  const [header = '', payload = ''] = good.split('.');
  const [jwk] = issuer.publicKeys.keys;
  if (!jwk) throw new Error('The issuer has no key.');
  const pem = createPublicKey({ key: jwk, format: 'jwk' }).export({ format: 'pem', type: 'spki' });
  const signed = `${encoded({ ...decoded(header), alg: 'HS256' })}.${payload}`;
  return `${signed}.${createHmac('sha256', pem).update(signed).digest('base64url')}`;
}
