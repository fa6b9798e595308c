import { type Client, type Schemas, sizeText } from 'computation-management-client';
import { uploadContent } from 'computation-management-client/node';
import { sshWireOf } from 'computation-management-formats/ssh-wire';
import { ok as ensure } from 'node:assert';
import { createHash, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { step } from './runs.ts';

/** The client of each participant of the demo. */
export type Cast = Record<'owner' | 'developer' | 'provider' | 'reviewer' | 'consumer', Client>;

/** A file in tools/demo/data/ that the demo uploads. */
export interface InputFile {
  name: string;
  path: string;
  content: Buffer;
  /** The SHA3-256 hash of the content, which an agent verifies. */
  sha3: Buffer;
}

export interface Inputs {
  algorithm: InputFile;
  dataset: InputFile;
}

export function readInputFile(name: string): InputFile {
  const path = join(import.meta.dirname, 'data', name);
  const content = readFileSync(path);
  return { name, path, content, sha3: createHash('sha3-256').update(content).digest() };
}

/**
 * Creates a computation and makes it ready to run: uploads and links its assets, and hands in the keys.
 * @returns the identifier of the computation, and the private key of the reviewer
 */
export async function prepare(cast: Cast, { algorithm, dataset }: Inputs): Promise<{ id: string; reviewerKey: KeyObject }> {
  const { owner, developer, provider, consumer } = cast;
  let id = '';
  const ids = { algorithm: '', dataset: '' };
  const askWhatLacks = (check: (missing: Schemas['MissingItems']) => string) =>
    step('owner', 'asks what a run would lack', async () => check((await owner.dryRun({ id })).missing_items));
  // A key of each algorithm and file format that the service supports. Only the reviewer signs.
  const uploadKey = (who: keyof Cast, file: string | Buffer, kind: string) =>
    step(who, 'hands in a public key', async () => {
      await cast[who].uploadKey({ id, body: { key: Buffer.from(file).toString('base64') } });
      return kind;
    });
  const link = (who: keyof Cast, what: keyof Inputs) =>
    step(who, `links the ${what}`, async () => {
      const { linked } = await cast[who].linkAsset({ id: ids[what], computationID: id });
      ensure(linked, 'the answer does not say linked');
      return '';
    });

  await step('owner', 'creates a computation', async () => {
    const name = 'Sizes of the Palmer penguins';
    const review = { consumers: ['consumer'], result_review: { reviewers: ['reviewer'], needed: 1 } };
    ({ id } = await owner.createComputation({ body: { name, agent_config: { log_level: 'info' }, ...review } }));
    return `${name}, its result for consumer, once reviewer releases it`;
  });
  await askWhatLacks((missing) => {
    ensure(missing.info.includes('Missing algorithm'), 'the dry run does not miss the algorithm');
    return sentence(missing);
  });
  await step('developer', 'uploads the algorithm', async () => {
    const { name, content } = algorithm;
    const asset = { file_name: name, asset_type: 'algorithm', mime_type: 'text/x-python' } as const;
    ({ id: ids.algorithm } = await developer.createAsset({ body: { asset: { ...asset, asset: content.toString('base64') } } }));
    return `${name}, ${sizeText(content.length)}, inline`;
  });
  await step('provider', 'uploads the dataset', async () => {
    ids.dataset = await uploadPresigned(provider, dataset);
    return `${dataset.name}, ${sizeText(dataset.content.length)}, straight to storage`;
  });
  await step('consumer', 'asks for the dataset', async () => {
    const { asset, content_withheld, checksum } = await consumer.getAsset({ id: ids.dataset });
    ensure(content_withheld === true && asset === undefined, 'the service gives the content to others than its creator');
    return `its content is withheld, its hash is ${checksum?.slice(0, 8) ?? 'missing'}...`;
  });
  await link('developer', 'algorithm');
  await link('provider', 'dataset');
  await askWhatLacks((missing) => {
    ensure(missing.keys.length > 0, 'the dry run does not miss a key');
    return sentence(missing);
  });
  const rsa = generateKeyPairSync('rsa', { modulusLength: 3072 }).publicKey;
  const ecdsa = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey;
  const ed25519 = generateKeyPairSync('ed25519');
  await uploadKey('developer', rsa.export({ format: 'pem', type: 'spki' }), 'RSA 3072, as PEM');
  await uploadKey('provider', ecdsa.export({ format: 'der', type: 'spki' }), 'ECDSA P-256, as DER');
  await uploadKey('reviewer', openSshLine(ed25519.publicKey, 'reviewer'), 'Ed25519, as OpenSSH');
  await askWhatLacks((missing) => {
    ensure(Object.values(missing).flat().length === 0, `the dry run still lacks: ${sentence(missing)}`);
    return 'nothing: ready to run';
  });
  return { id, reviewerKey: ed25519.privateKey };
}

function sentence({ keys, hashes, info }: Schemas['MissingItems']): string {
  const parts = [
    ...(keys.length > 0 ? [`${keys.length === 1 ? 'the key' : 'the keys'} of ${keys.join(', ')}`] : []),
    ...(hashes.length > 0 ? [`the content of ${hashes.join(', ')}`] : []),
    ...info,
  ];
  return parts.join('; ');
}

async function uploadPresigned(client: Client, { name, path, sha3 }: InputFile): Promise<string> {
  const asset = { file_name: name, asset_type: 'dataset', mime_type: 'text/csv' } as const;
  const { id } = await client.createAsset({ body: { asset } });
  const { checksum } = await uploadContent(client, { id, file: path });
  ensure(checksum === sha3.toString('hex'), 'the service computed another checksum');
  return id;
}

/** Formats a public key as `ssh-keygen -t ed25519` writes it into `id_ed25519.pub` (RFC 8709). */
function openSshLine(key: KeyObject, comment: string): string {
  const wire = sshWireOf(key.export({ format: 'der', type: 'spki' }));
  return `ssh-ed25519 ${Buffer.from(wire).toString('base64')} ${comment}\n`;
}
