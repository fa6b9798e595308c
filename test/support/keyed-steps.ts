import { randomUUID } from 'node:crypto';
import { routes } from '../../shared/endpoints/endpoints.ts';
import { takesKey, type Route } from '../../shared/http/route.ts';
import { keyedRequests, type KeyedName, type KeyedRequest, type Prepare } from './keyed-requests.ts';
import { base64, publicKey } from './session.ts';

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
          return headers.get('manifest-digest') ?? '';
        }),
      ),
  };
}

/** The steps of a session that keyedRequests takes. */
function preparing(send: Steps['send'], digestOf: (id: string) => Promise<string>): Parameters<Prepare>[0] {
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
  return {
    createComputation,
    createAsset,
    link,
    readyComputation: async () => {
      const { id } = await createComputation();
      const algorithm = await createAsset({ file_name: 'algorithm.py', asset_type: 'algorithm' });
      await link(algorithm.id, id);
      await done('keys/upload-key', { path: { id }, body: { key: publicKey() } });
      return id;
    },
    digestOf,
    approve: async (id) => done('approvals/approve', { path: { id }, body: { digest: await digestOf(id) } }),
    startRun: (id, cvm) => done('runs/start-run', { path: { id }, query: { cvm } }),
    registerCvm: (cvmID, fields = {}) =>
      done('cvms/register-cvm', { path: { cvmID }, body: { description: 'Prepared', ...fields } }),
  };
}
