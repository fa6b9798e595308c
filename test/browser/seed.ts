import { generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type Client, createClient } from '../../client/index.ts';
import type { ConsoleWorld } from './console-world.ts';

/** A client of the service with the memberships, in the domain d1. */
export async function clientOf({ stack }: Pick<ConsoleWorld, 'stack'>, user: string, groups: string[]): Promise<Client> {
  return createClient({ baseUrl: stack.baseUrl, domain: 'd1', token: await stack.token(user, groups) });
}

/** Creates a computation of alice that a run can start of, by the API. */
export async function readyComputation(world: Pick<ConsoleWorld, 'stack'>, name: string): Promise<{ id: string; asset: string }> {
  return await createReadyComputation(await clientOf(world, 'alice', ['d1:administrator']), name);
}

/** Creates a computation with an algorithm and a key of the caller, so that a run can start. */
export async function createReadyComputation(client: Client, name: string): Promise<{ id: string; asset: string }> {
  const { id } = await client.createComputation({ body: { name } });
  const content = readFileSync(new URL('../../demo/data/penguin-sizes.py', import.meta.url)).toString('base64');
  const { id: asset } = await client.createAsset({
    body: { asset: { file_name: 'penguin-sizes.py', asset_type: 'algorithm', asset: content } },
  });
  await client.linkAsset({ id: asset, computationID: id });
  await client.uploadKey({ id, body: { key: publicKey() } });
  return { id, asset };
}

/** A new Ed25519 key as base64 of its SubjectPublicKeyInfo. */
export function publicKey(): string {
  return generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'der' }).toString('base64');
}
