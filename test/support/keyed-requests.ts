import { randomUUID } from 'node:crypto';
import type { KnownRoute } from '../../shared/endpoints/endpoints.ts';
import { base64, newCvm, publicKey, type Session } from './session.ts';
import { privateKey } from './suite-state.ts';

/** The names of the endpoints that take an Idempotency-Key. */
export type KeyedName = Exclude<KnownRoute, { method: 'GET' } | { takesKey: false }>['name'];

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
    'createComputation' | 'createAsset' | 'link' | 'readyComputation' | 'startRun' | 'digestOf' | 'approve' | 'registerCvm'
  >,
) => Promise<KeyedRequest>;

const agent_config = { cert_file: 'certificate', server_key: privateKey() };
const file = () => ({ file_name: `${randomUUID()}.csv`, asset_type: 'dataset' });

/** Prepares a request to each endpoint that takes an Idempotency-Key. A new endpoint does not compile without one. */
export const keyedRequests: Record<KeyedName, Prepare> = {
  'computations/create-computation': async () => ({ body: { name: 'Created', agent_config } }),
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
  'assets/link-asset': async ({ createAsset, createComputation }) => {
    const [asset, computation] = [(await createAsset()).id, (await createComputation()).id];
    return { path: { id: asset, computationID: computation }, computation, asset };
  },
  'assets/unlink-asset': async ({ createAsset, createComputation, link }) => {
    const [asset, computation] = [(await createAsset()).id, (await createComputation()).id];
    await link(asset, computation);
    return { path: { id: asset, computationID: computation }, computation, asset };
  },
  'approvals/approve': async ({ readyComputation, digestOf }) => {
    const id = await readyComputation();
    return { path: { id }, body: { digest: await digestOf(id), cvm_ids: ['cvm-1'] }, computation: id };
  },
  'approvals/withdraw-approval': async ({ readyComputation, approve }) => {
    const id = await readyComputation();
    await approve(id);
    return { path: { id }, computation: id };
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
