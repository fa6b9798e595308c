import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { routes } from '../../shared/endpoints/endpoints.ts';
import { cvmBody } from '../../shared/openapi/examples.ts';
import type { Route } from '../../shared/http/route.ts';
import { amount } from '../support/amounts.ts';
import { type CheckResponse, type HttpAnswer, operationOf } from '../support/openapi-document.ts';
import { openClient, type Client } from '../support/client.ts';
import { encode, nastyText, pointersOf, type RawRequest, sendRaw, spoilt, withValueAt } from './nonsense.ts';
import { strictPolicy } from '../support/strict-policy.ts';
import { base64, publicKey } from '../support/session.ts';
import { actAs, isDeployed, openTarget, type Target } from '../support/target.ts';
import { privateKey } from '../support/suite-state.ts';

const rows = routes as readonly Route[];
/** The routes whose bodies are checked field by field. The protocol of clients that attest has no such errors. */
const withBody: Route[] = rows.filter((route) => route.body && !route.isForm && route.name !== 'releases/attest');
/** The routes that answer 413 to more than 256 KiB, before they look into the body: test/e2e/limits.test.ts. */
const withLargeBody: Route[] = routes.filter((route) => 'bodyLimit' in route);
const requestsPerRoute = amount({ sample: 4, full: 80 });

let target: Target;
let client: Client;
let check: CheckResponse;
let sent = 0;
let things: { computation: string; asset: string; run: string; ofOthers: string[] };

/** The messages of API Gateway itself: no such route, a path that cannot be decoded, a request over its or Lambda's limit. */
const byGateway = ['Not Found', 'Bad Request', 'Request Entity Too Large'];

async function send(route: Route, request: RawRequest): Promise<HttpAnswer> {
  const person = route.access?.anyOf[0] === 'operate_cvm' ? 'cvm' : 'administrator';
  sent++;
  return await sendRaw(target.baseUrl, route, request, target.tokenOf(person));
}

async function expectAnAnswer(route: Route, request: RawRequest): Promise<void> {
  const answer = await send(route, request);
  if (answer.status >= 500) throw new Error(`${answer.status} ${answer.text}`);
  const isByGateway = answer.status >= 400 && answer.headers.get('content-type') === 'application/json';
  if (isByGateway) expect(byGateway).toContain((JSON.parse(answer.text) as { message: string }).message);
  else check(route.method, route.path, answer);
}

function goodRequest(route: Route): RawRequest {
  const isAsset = route.path.startsWith('/{domainID}/assets/');
  const values: Record<string, string> = {
    domainID: target.domain,
    cvmID: 'cvm-1',
    computationID: things.computation,
    id: isAsset ? things.asset : things.computation,
  };
  const names = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const body = goodBodyOf(route);
  return {
    path: Object.fromEntries(names.map((name) => [name, values[name] ?? ''])),
    query: route.path.includes('/result') ? [['run', things.run]] : [],
    headers: body === undefined ? {} : { 'content-type': 'application/json' },
    body: body === undefined ? undefined : JSON.stringify(body),
  };
}

/** Returns a body with every field of the route and valid values. */
function goodBodyOf(route: Route): unknown {
  const agent_config = {
    log_level: 'info',
    cert_file: 'c',
    server_key: privateKey(),
    server_ca_file: '',
    client_ca_file: '',
    attested_tls: true,
  };
  const files = { file_name: 'x', asset_type: 'algorithm', mime_type: 'text/csv', asset: 'YQ==', checksum: 'a'.repeat(64) };
  const report = { id: '1', run_id: things.run };
  switch (route.name) {
    case 'notifications/set-notifications':
      return { email: false };
    case 'computations/create-computation':
    case 'computations/update-computation':
      return { name: 'N', description: 'D', owner: target.idOf('administrator'), agent_config };
    case 'assets/create-asset':
    case 'assets/update-asset':
      return { asset: { ...files, description: 'D', user_key: publicKey() } };
    case 'keys/upload-key':
      return { key: publicKey() };
    case 'cvms/report':
      return {
        reports: [
          {
            ...report,
            type: 'event',
            event_type: 'Running',
            status: 'InProgress',
            details: 'e30=',
            originator: 'agent',
            occurred_at: '2025-07-17T08:00:00Z',
          },
          { ...report, id: '2', type: 'accepted', command_id: 'x', reason: '' },
          { type: 'heartbeat', agent_state: 'Running', fit: 'busy' },
        ],
      };
    case 'approvals/approve':
      return {
        digest: '0'.repeat(64),
        configuration_digest: '0'.repeat(64),
        cvm_ids: ['cvm-1'],
        expires_at: '2040-01-01T00:00:00.000Z',
        signature: base64('signature'),
      };
    case 'cvms/register-cvm':
      return cvmBody;
    case 'results/hand-in-result':
      return { file_name: 'x', size: 1, checksum: 'a'.repeat(64) };
    case 'results/decide-result':
      return { decision: 'release', checksum: 'a'.repeat(64), note: 'Fine.', signature: base64('signature') };
    case 'assets/set-asset-key':
      return { held: 'party', fingerprint: 'a'.repeat(64), release_policy: strictPolicy };
    case 'releases/answer-release':
      return { refusal: 'Not mine.' };
    case 'releases/auth':
      return {}; // another version is 401, as clients of the protocol expect
    case 'releases/attest':
      return { 'runtime-data': { nonce: 'a', 'tee-pubkey': {} }, 'tee-evidence': {} };
    default:
      return undefined;
  }
}

/** Creates a computation with an active run, so that it and its asset cannot be deleted. */
async function makeThings(): Promise<typeof things> {
  const make = async (domainID: string, as: 'administrator' | 'outsider') => {
    const asset = { file_name: 'a.py', asset_type: 'algorithm', asset: base64('print(1)') };
    const request = { path: { domainID }, as };
    const computation = await client.done('computations/create-computation', { ...request, body: { name: 'N' } });
    return { computation: computation.id, asset: (await client.done('assets/create-asset', { ...request, body: { asset } })).id };
  };
  const { computation, asset } = await make(target.domain, 'administrator');
  await client.done('assets/link-asset', { path: { id: asset, computationID: computation } });
  await client.done('keys/upload-key', { path: { id: computation }, body: { key: publicKey() } });
  const run = await client.done('runs/start-run', { path: { id: computation }, query: { cvm: 'cvm-1' } });
  return { computation, asset, run, ofOthers: Object.values(await make(target.otherDomain, 'outsider')) };
}

/** The answer to a request with an invalid field: a refusal, or the results of a batch of reports. */
interface Spoilt {
  errors?: { pointer: string }[];
  results?: { detail?: string }[];
}

describe.skipIf(isDeployed)('nonsense', () => {
  beforeAll(async () => {
    target = await openTarget();
    client = await openClient(target);
    ({ check } = client);
    things = await actAs(['outsider'], makeThings);
  });

  afterAll(() => {
    process.stdout.write(`${sent} nonsense requests were answered.\n`);
  });

  it.each(rows)('gets a documented answer and never a 5xx: $method $path', async (route) => {
    const { parameters } = operationOf(client.document, route.method, route.path);
    const { computation, asset, run, ofOthers } = things;
    const requests = spoilt({
      request: goodRequest(route),
      parameters: parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name),
      identifiers: [computation, asset, run, ...ofOthers, target.otherDomain],
    });
    await fc.assert(
      fc.asyncProperty(requests, (request) => expectAnAnswer(route, request)),
      { numRuns: requestsPerRoute },
    );
  });

  it.each(rows)(
    'longer than a key of DynamoDB in one place gets a documented answer and never a 5xx: $method $path',
    async (route) => {
      const good = goodRequest(route);
      const { parameters } = operationOf(client.document, route.method, route.path);
      const pointers = good.body === undefined || route.isForm ? [] : pointersOf(JSON.parse(good.body));
      for (const long of ['x'.repeat(1_100), '😀'.repeat(255), '😀'.repeat(700)]) {
        const raw = encode(long);
        for (const name of Object.keys(good.path)) await expectAnAnswer(route, { ...good, path: { ...good.path, [name]: raw } });
        for (const { name } of parameters.filter((parameter) => parameter.in === 'query')) {
          const others = good.query.filter(([other]) => other !== name);
          await expectAnAnswer(route, { ...good, query: [...others, [name, raw]] });
        }
        for (const pointer of pointers) {
          await expectAnAnswer(route, { ...good, body: withValueAt(good.body, pointer, long) });
          await expectAnAnswer(route, { ...good, body: withValueAt(good.body, pointer, [long]) });
        }
      }
    },
  );

  it.each(withBody)('in one field gets a 400 that points to the field: $method $path', async (route) => {
    const good = goodRequest(route);
    for (const pointer of pointersOf(JSON.parse(good.body ?? ''))) {
      const { status, text } = await send(route, { ...good, body: withValueAt(good.body, pointer, { x: [{}] }) });
      const { errors, results } = JSON.parse(text) as Spoilt;
      const invalid = results?.flatMap(({ detail = '' }, place) => ({
        pointer: `/reports/${place}${detail.split(':')[0] ?? ''}`,
      }));
      expect([pointer, status]).toEqual([pointer, invalid ? 200 : 400]);
      const named = (errors ?? invalid ?? []).map((error) => error.pointer);
      expect([pointer, named.some((place) => place.startsWith(pointer))]).toEqual([pointer, true]);
    }
  });

  it.each(withLargeBody)('of 5 MB gets a documented answer and never a 5xx: $method $path', async (route) => {
    const bodies = [
      JSON.stringify({ name: 'x'.repeat(5e6) }),
      JSON.stringify({ ['x'.repeat(3e6)]: 1 }),
      JSON.stringify({ asset: { ['é'.repeat(1.5e6)]: 1 } }),
      '['.repeat(2.5e6) + ']'.repeat(2.5e6),
      'x'.repeat(5e6),
    ];
    for (const body of bodies) {
      await expectAnAnswer(route, { ...goodRequest(route), body });
    }
  });

  it('in a name and description that are valid is stored unchanged', async () => {
    const property = fc.asyncProperty(nastyText, nastyText, async (name, description) => {
      const { status, body } = await client.call('computations/create-computation', { body: { name, description } });
      sent++;
      if (status === 400) return;
      const { id } = body as { id: string };
      expect(await client.done('computations/get-computation', { path: { id } })).toMatchObject({ name, description });
    });
    await fc.assert(property, { numRuns: amount({ sample: 15, full: 60 }) });
  });

  const leastSent = amount({ sample: 200, full: 2_000 });
  it(`is sent in at least ${leastSent} requests`, () => {
    expect(sent).toBeGreaterThanOrEqual(leastSent);
  });
});
