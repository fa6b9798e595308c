import { randomBytes, randomUUID } from 'node:crypto';
import { type KnownRoute, routes } from '../../shared/endpoints/endpoints.ts';
import { type Route, takesKey } from '../../shared/http/route.ts';
import { strictPolicy } from './strict-policy.ts';
import { base64, newCvm, publicKey, type Session } from './session.ts';
import { privateKey } from './suite-state.ts';
import { digestsIn } from './approval-digests.ts';

/**
 * The names of the endpoints that take an Idempotency-Key, without the one whose request takes a guest that asks for a key:
 * test/shared/releases/releases.service.test.ts repeats it.
 */
export type KeyedName = Exclude<Exclude<KnownRoute, { method: 'GET' } | { takesKey: false }>['name'], 'releases/answer-release'>;

/** A request that succeeds, and the resources that it may change. */
export interface KeyedRequest {
  path?: Record<string, string>;
  query?: Record<string, string>;
  body?: unknown;
  computation?: string;
  asset?: string;
  cvm?: string;
}

export type Prepare = (
  session: Pick<
    Session,
    | 'createComputation'
    | 'createAsset'
    | 'setAssetKey'
    | 'link'
    | 'readyComputation'
    | 'startRun'
    | 'digestsOf'
    | 'approve'
    | 'registerCvm'
    | 'reviewedRun'
    | 'handIn'
  >,
) => Promise<KeyedRequest>;

const agent_config = { cert_file: 'certificate', server_key: privateKey() };
const file = () => ({ file_name: `${randomUUID()}.csv`, asset_type: 'dataset' });

/** Prepares a request to each endpoint that takes an Idempotency-Key. A new endpoint does not compile without one. */
export const keyedRequests: Record<KeyedName, Prepare> = {
  'computations/create-computation': async () => ({ body: { name: 'Created', agent_config } }),
  'notifications/set-notifications': async () => ({ body: { email: false } }),
  'computations/update-computation': async ({ createComputation }) => {
    const { id } = await createComputation();
    return { path: { id }, body: { name: 'Renamed', agent_config }, computation: id };
  },
  'computations/delete-computation': async ({ createComputation }) => {
    const { id } = await createComputation();
    return { path: { id }, computation: id };
  },
  'runs/start-run': async ({ readyComputation }) => {
    const id = await readyComputation();
    return { path: { id }, query: { cvm: newCvm() }, computation: id };
  },
  'runs/stop-run': async ({ readyComputation, startRun }) => {
    const id = await readyComputation();
    await startRun(id, newCvm());
    return { path: { id }, computation: id };
  },
  'keys/upload-key': async ({ createComputation }) => {
    const { id } = await createComputation();
    return { path: { id }, body: { key: publicKey() }, computation: id };
  },
  'assets/create-asset': async () => ({ body: { asset: file() } }),
  'assets/update-asset': async ({ createAsset }) => {
    const { id } = await createAsset({ asset: undefined });
    return { path: { id }, body: { asset: { ...file(), description: 'changed' } }, asset: id };
  },
  'assets/delete-asset': async ({ createAsset }) => {
    const { id } = await createAsset({ asset: base64('a') });
    return { path: { id }, asset: id };
  },
  'assets/set-asset-key': async ({ createAsset }) => {
    const { id } = await createAsset({ asset: base64('a') });
    const key = randomBytes(32).toString('base64');
    return { path: { id }, body: { held: 'service', key, release_policy: strictPolicy }, asset: id };
  },
  'assets/remove-asset-key': async ({ createAsset, setAssetKey }) => {
    const { id } = await createAsset({ asset: base64('a') });
    await setAssetKey(id);
    return { path: { id }, asset: id };
  },
  'assets/link-asset': async ({ createAsset, createComputation }) => {
    const [asset, computation] = [(await createAsset()).id, (await createComputation()).id];
    return { path: { id: asset, computationID: computation }, computation, asset };
  },
  'assets/unlink-asset': async ({ createAsset, createComputation, link }) => {
    const [asset, computation] = [(await createAsset()).id, (await createComputation()).id];
    await link(asset, computation);
    return { path: { id: asset, computationID: computation }, computation, asset };
  },
  'approvals/approve': async ({ readyComputation, digestsOf }) => {
    const id = await readyComputation();
    return { path: { id }, body: { ...(await digestsOf(id)), cvm_ids: ['cvm-1'] }, computation: id };
  },
  'approvals/withdraw-approval': async ({ readyComputation, approve }) => {
    const id = await readyComputation();
    await approve(id);
    return { path: { id }, computation: id };
  },
  'keys/remove-key': async ({ readyComputation }) => {
    const id = await readyComputation();
    return { path: { id }, computation: id };
  },
  'results/hand-in-result': async ({ reviewedRun }) => {
    const reviewed = await reviewedRun();
    const body = { file_name: 'counts.csv', size: 1, checksum: 'a'.repeat(64) };
    return { ...reviewed, body, computation: reviewed.path.id };
  },
  'results/decide-result': async ({ reviewedRun, handIn }) => {
    const reviewed = await reviewedRun();
    const body = { decision: 'release', checksum: await handIn(reviewed) };
    return { ...reviewed, body, computation: reviewed.path.id };
  },
  'cvms/register-cvm': async () => {
    const cvm = newCvm();
    return { path: { cvmID: cvm }, body: { description: 'registered' }, cvm };
  },
  'cvms/delete-cvm': async ({ registerCvm }) => {
    const cvm = newCvm();
    await registerCvm(cvm);
    return { path: { cvmID: cvm }, cvm };
  },
};

export const keyedNames = Object.keys(keyedRequests) as KeyedName[];
/** The names of the requests that one user can prepare alone: results take a CVM that completes a run. */
export const preparedNames = keyedNames.filter((name) => !name.startsWith('results/'));

export interface Answered {
  status: number;
  headers: Headers;
  body: Record<string, unknown>;
}

/** Calls a stack as one user, without a check of the answers. */
export interface Steps {
  /** Sends a request to an endpoint that takes an Idempotency-Key. */
  send: (name: KeyedName, request: KeyedRequest, headers?: Record<string, string>) => Promise<Answered>;
  get: (path: string) => Promise<Answered>;
  /** Creates what the request needs. */
  prepare: (name: KeyedName) => Promise<KeyedRequest>;
}

const rows = new Map((routes as readonly Route[]).filter(takesKey).map((route) => [route.name, route]));

export function stepsOf(baseUrl: string, domain: string, token: string): Steps {
  const fetched = async (method: string, address: string, body: unknown, headers: Record<string, string>) => {
    const response = await fetch(baseUrl + address, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      body: (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>,
    };
  };
  const send: Steps['send'] = async (name, { path = {}, query = {}, body }, headers = {}) => {
    const route = rows.get(name);
    if (!route) throw new TypeError(`${name} takes no key.`);
    const parameters: Record<string, string> = { domainID: domain, ...path };
    const address = route.path.replace(/\{(\w+)\}/g, (_, parameter: string) => parameters[parameter] ?? '');
    const search = new URLSearchParams(query).toString();
    return await fetched(route.method, address + (search === '' ? '' : `?${search}`), body, headers);
  };
  return {
    send,
    get: (path) => fetched('GET', path, undefined, {}),
    prepare: (name) =>
      keyedRequests[name](
        preparing(send, async (id) => {
          const { headers } = await fetched('GET', `/${domain}/computations/${id}/manifest`, undefined, {});
          return digestsIn(headers);
        }),
      ),
  };
}

/** The steps of a session that keyedRequests takes. */
function preparing(send: Steps['send'], digestsOf: Session['digestsOf']): Parameters<Prepare>[0] {
  const done = async (name: KeyedName, request: KeyedRequest) => {
    const { status, body } = await send(name, request);
    if (status >= 300) throw new Error(`${name} answered ${status}: ${JSON.stringify(body)}`);
    return body as never;
  };
  const createComputation: Parameters<Prepare>[0]['createComputation'] = (fields = {}) =>
    done('computations/create-computation', { body: { name: 'Prepared', ...fields } });
  const createAsset: Parameters<Prepare>[0]['createAsset'] = (fields = {}) =>
    done('assets/create-asset', {
      body: { asset: { file_name: `${randomUUID()}.csv`, asset_type: 'dataset', asset: base64('a,b\n'), ...fields } },
    });
  const link = async (id: string, computationID: string) => {
    await done('assets/link-asset', { path: { id, computationID } });
  };
  const noReview = () => Promise.reject(new Error('Results are prepared by a session.'));
  return {
    reviewedRun: noReview,
    handIn: noReview,
    createComputation,
    createAsset,
    setAssetKey: async (id) => {
      const body = { held: 'party', fingerprint: 'ab'.repeat(32), release_policy: strictPolicy };
      return done('assets/set-asset-key', { path: { id }, body });
    },
    link,
    readyComputation: async () => {
      const { id } = await createComputation();
      const algorithm = await createAsset({ file_name: 'algorithm.py', asset_type: 'algorithm' });
      await link(algorithm.id, id);
      await done('keys/upload-key', { path: { id }, body: { key: publicKey() } });
      return id;
    },
    digestsOf,
    approve: async (id) => done('approvals/approve', { path: { id }, body: await digestsOf(id) }),
    startRun: (id, cvm) => done('runs/start-run', { path: { id }, query: { cvm } }),
    registerCvm: (cvmID, fields = {}) =>
      done('cvms/register-cvm', { path: { cvmID }, body: { description: 'Prepared', ...fields } }),
  };
}
