import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { readClaim } from '../../shared/runs/claim.ts';
import type { Table } from '../../shared/table/table.ts';
import type { AcceptClient } from './accept-client.ts';
import { facts } from './facts.ts';
import type { Finding } from './finding.ts';

const longestInMilliseconds = 30_000;

/** Starts a run for a CVM that does not exist, and reads the task token with which its execution waits. The run stays active. */
export async function checkTaskToken(client: AcceptClient, table: Table, domain: string): Promise<Finding> {
  const computation = await readyComputation(client);
  const cvm = `accept-${randomUUID()}`;
  const { status, body: run_id } = await client.call('startRun', { id: computation, cvm });
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

/** Makes a computation that can run. */
async function readyComputation(client: AcceptClient): Promise<string> {
  const { body } = await client.call('createComputation', { body: { name: 'accept' } });
  const id = body?.id ?? '';
  const asset = { file_name: 'algorithm.py', asset_type: 'algorithm', asset: btoa('print(1)') } as const;
  const algorithm = await client.call('createAsset', { body: { asset } });
  await client.call('linkAsset', { id: algorithm.body?.id ?? '', computationID: id });
  const key = generateKeyPairSync('ed25519').publicKey.export({ format: 'pem', type: 'spki' });
  await client.call('uploadKey', { id, body: { key: Buffer.from(key).toString('base64') } });
  return id;
}
