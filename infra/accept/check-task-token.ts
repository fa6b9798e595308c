import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { readClaim } from '../../shared/runs/claim.ts';
import type { Table } from '../../shared/table/table.ts';
import type { AcceptClient } from './accept-client.ts';
import { retryWhileLimited } from './retry-while-limited.ts';
import { facts } from './facts.ts';
import type { Finding } from './finding.ts';

const longestInMilliseconds = 30_000;

/** Starts a run for a CVM that does not exist, and reads the task token with which its execution waits. The run stays active. */
export async function checkTaskToken(client: AcceptClient, table: Table, domain: string): Promise<Finding> {
  const ready = await readyComputation(client);
  if ('refused' in ready) return { ...facts.tokens, measured: `no run could be prepared: ${ready.refused}`, holds: false };
  const computation = ready.id;
  const cvm = `accept-${randomUUID()}`;
  const { status, body: run_id } = await retryWhileLimited(() => client.call('startRun', { id: computation, cvm }));
  if (run_id === undefined) return { ...facts.tokens, measured: `the run did not start: ${status}`, holds: false };
  const run = { domain, computation_id: computation, run_id, cvm_id: cvm };
  const givesUpAt = performance.now() + longestInMilliseconds;
  while (performance.now() < givesUpAt) {
    const token = (await readClaim(table, run))?.offer_token;
    if (token !== undefined) {
      return { ...facts.tokens, measured: `${token.length} bytes`, holds: token.length <= 1_024 };
    }
    await delay(500);
  }
  return { ...facts.tokens, measured: 'no token within 30 s: the run waits for nothing', holds: false };
}

/** Makes a computation that can run. Returns which step was refused, and with which status, if one was. */
async function readyComputation(client: AcceptClient): Promise<{ id: string } | { refused: string }> {
  const computation = await retryWhileLimited(() => client.call('createComputation', { body: { name: 'accept' } }));
  if (!computation.body) return { refused: `createComputation ${computation.status}` };
  const { id } = computation.body;
  const asset = { file_name: 'algorithm.py', asset_type: 'algorithm', asset: btoa('print(1)') } as const;
  const algorithm = await retryWhileLimited(() => client.call('createAsset', { body: { asset } }));
  if (!algorithm.body) return { refused: `createAsset ${algorithm.status}` };
  const assetId = algorithm.body.id;
  const linked = await retryWhileLimited(() => client.call('linkAsset', { id: assetId, computationID: id }));
  if (linked.status >= 300) return { refused: `linkAsset ${linked.status}` };
  const key = generateKeyPairSync('ed25519').publicKey.export({ format: 'pem', type: 'spki' });
  const uploaded = await retryWhileLimited(() =>
    client.call('uploadKey', { id, body: { key: Buffer.from(key).toString('base64') } }),
  );
  return uploaded.status < 300 ? { id } : { refused: `uploadKey ${uploaded.status}` };
}
