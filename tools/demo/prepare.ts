import type { Client, Schemas } from 'computation-management-client';
import { uploadContent } from 'computation-management-client/node';
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { Cast, InputFile } from './cast.ts';
import { ok as ensure } from 'node:assert';
import type { Timeline } from './timeline.ts';

type MissingItems = Schemas['MissingItems'];

export interface Inputs {
  algorithm: InputFile;
  dataset: InputFile;
}

/**
 * Creates a computation and makes it ready to run: uploads and links its assets, and hands in the keys. @returns the identifier
 * of the computation
 */
export async function prepare(
  { step }: Timeline,
  { owner, developer, provider, consumer }: Cast,
  inputs: Inputs,
): Promise<string> {
  let id = '';
  const ids = { algorithm: '', dataset: '' };
  const uploadKey = (who: keyof Cast, client: Client, { base64, kind }: PublicKeyFile) =>
    step(who, 'hands in a public key', async () => {
      await client.uploadKey({ id, body: { key: base64 } });
      return kind;
    });

  await step('owner', 'creates a computation', async () => {
    const name = 'Sizes of the Palmer penguins';
    ({ id } = await owner.createComputation({ body: { name, agent_config: { log_level: 'info' } } }));
    return name;
  });
  await step('owner', 'asks what a run would lack', async () => {
    const missing = await dryRun(owner, id);
    ensure(missing.info.includes('Missing algorithm'), 'the dry run does not miss the algorithm');
    return sentence(missing);
  });
  await step('developer', 'uploads the algorithm', async () => {
    ids.algorithm = await uploadInline(developer, inputs.algorithm);
    return `${inputs.algorithm.name}, ${inputs.algorithm.size}, inline`;
  });
  await step('provider', 'uploads the dataset', async () => {
    ids.dataset = await uploadPresigned(provider, inputs.dataset);
    return `${inputs.dataset.name}, ${inputs.dataset.size}, straight to storage`;
  });
  await step('consumer', 'asks for the dataset', async () => {
    const { asset, content_withheld, checksum } = await consumer.getAsset({ id: ids.dataset });
    ensure(content_withheld === true && asset === undefined, 'the service gives the content to others than its creator');
    return `its content is withheld, its hash is ${checksum?.slice(0, 8) ?? 'missing'}...`;
  });
  await step('developer', 'links the algorithm', () => link(developer, ids.algorithm, id));
  await step('provider', 'links the dataset', () => link(provider, ids.dataset, id));
  await step('owner', 'asks what a run would lack', async () => {
    const missing = await dryRun(owner, id);
    ensure(missing.keys.length > 0, 'the dry run does not miss a key');
    return sentence(missing);
  });
  await uploadKey('owner', owner, publicKeys.openSshEd25519('owner'));
  await uploadKey('developer', developer, publicKeys.pemRsa());
  await uploadKey('provider', provider, publicKeys.derEcdsa());
  await uploadKey('consumer', consumer, publicKeys.pemEd25519());
  await step('owner', 'asks what a run would lack', async () => {
    const missing = await dryRun(owner, id);
    ensure(Object.values(missing).flat().length === 0, `the dry run still lacks: ${sentence(missing)}`);
    return 'nothing: ready to run';
  });
  return id;
}

async function dryRun(client: Client, id: string): Promise<MissingItems> {
  return (await client.dryRun({ id })).missing_items;
}

function sentence({ keys, hashes, info }: MissingItems): string {
  const parts = [
    ...(keys.length > 0 ? [`${keys.length === 1 ? 'the key' : 'the keys'} of ${keys.join(', ')}`] : []),
    ...(hashes.length > 0 ? [`the content of ${hashes.join(', ')}`] : []),
    ...info,
  ];
  return parts.join('; ');
}

async function uploadInline(client: Client, { name, content }: InputFile): Promise<string> {
  const mime_type = 'text/x-python';
  const asset = { file_name: name, asset_type: 'algorithm', mime_type, asset: content.toString('base64') } as const;
  return (await client.createAsset({ body: { asset } })).id;
}

async function uploadPresigned(client: Client, { name, path, sha3 }: InputFile): Promise<string> {
  const asset = { file_name: name, asset_type: 'dataset', mime_type: 'text/csv' } as const;
  const { id } = await client.createAsset({ body: { asset } });
  const { checksum } = await uploadContent(client, { id, file: path });
  ensure(checksum === sha3.toString('hex'), 'the service computed another checksum');
  return id;
}

async function link(client: Client, assetId: string, computationId: string): Promise<string> {
  const { linked } = await client.linkAsset({ id: assetId, computationID: computationId });
  ensure(linked, 'the answer does not say linked');
  return '';
}

/** A new public key of a participant in base64, as endpoint 10 accepts it, with a description. */
interface PublicKeyFile {
  base64: string;
  kind: string;
}

/**
 * Functions that make a public key, for each algorithm and file format that the service supports. Nothing is signed, so the
 * private keys are not kept.
 */
const publicKeys = {
  openSshEd25519: (user: string): PublicKeyFile => ({
    base64: base64(openSshLine(generateKeyPairSync('ed25519').publicKey, user)),
    kind: 'Ed25519, as OpenSSH',
  }),
  pemRsa: (): PublicKeyFile => ({
    base64: base64(generateKeyPairSync('rsa', { modulusLength: 3072 }).publicKey.export({ format: 'pem', type: 'spki' })),
    kind: 'RSA 3072, as PEM',
  }),
  derEcdsa: (): PublicKeyFile => ({
    base64: base64(generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'der', type: 'spki' })),
    kind: 'ECDSA P-256, as DER',
  }),
  pemEd25519: (): PublicKeyFile => ({
    base64: base64(generateKeyPairSync('ed25519').publicKey.export({ format: 'pem', type: 'spki' })),
    kind: 'Ed25519, as PEM',
  }),
};

/** Formats a public key as `ssh-keygen -t ed25519` writes it into `id_ed25519.pub` (RFC 8709). */
function openSshLine(key: KeyObject, comment: string): string {
  const type = 'ssh-ed25519';
  const raw = Buffer.from(key.export({ format: 'jwk' }).x ?? '', 'base64url');
  const blob = Buffer.concat([lengthOf(type), Buffer.from(type), lengthOf(raw), raw]);
  return `${type} ${blob.toString('base64')} ${comment}\n`;
}

function lengthOf({ length }: { length: number }): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(length);
  return bytes;
}

function base64(file: string | Buffer): string {
  return Buffer.from(file).toString('base64');
}
