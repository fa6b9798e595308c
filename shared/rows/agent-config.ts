import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { whyWeakCertificates } from 'computation-management-formats/certificates';
import { certificate, strictObject } from 'computation-management-formats/fields';
import { holdsPrivateKey } from 'computation-management-formats/holds-private-key';
import { logLevels } from 'computation-management-formats/vocabulary';
import * as v from 'valibot';
import { environment } from '../runtime/environment.ts';
import type { Kms } from '../runtime/clients.ts';
import type { Item } from '../table/table.ts';

const asPemOrPath = (what: string) => `${what}, as PEM text or as a path inside the CVM. Up to 16 KiB.`;

const certificateField = (what: string) =>
  v.optional(
    v.pipe(
      certificate,
      v.check(
        (value) => !holdsPrivateKey(value),
        'This contains a private key. Every reader of the computation sees this field. Leave only certificates in it, and put the key into server_key.',
      ),
      v.description(asPemOrPath(what)),
    ),
    '',
  );

/**
 * The schemas of the fields of an agent's configuration that everybody may read who may read the computation: all fields but the
 * private key.
 */
export const agentConfigEntries = {
  log_level: v.optional(
    v.pipe(v.picklist(['', ...logLevels]), v.description('The log level of the agent. Empty: the default of the agent.')),
    '',
  ),
  cert_file: certificateField('The certificate of the agent'),
  server_ca_file: certificateField('The CA certificate that the agent trusts for servers'),
  client_ca_file: certificateField('The CA certificate that the agent trusts for clients'),
  attested_tls: v.optional(v.pipe(v.boolean(), v.description('Whether the agent uses attested TLS. Default `false`.')), false),
};

const entries = {
  ...agentConfigEntries,
  server_key: v.optional(v.pipe(certificate, v.description(asPemOrPath('The private key of the certificate'))), ''),
};

export const agentConfigInput = v.pipe(
  strictObject(entries),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    const input = dataset.value;
    for (const key of ['cert_file', 'server_ca_file', 'client_ca_file'] as const) {
      const message = whyWeakCertificates(input[key]);
      if (message) addIssue({ message, path: [{ type: 'object', origin: 'value', input, key, value: input[key] }] });
    }
  }),
  v.title('AgentConfigInput'),
  v.description('The configuration of the agent in the CVM. Omitted fields get their defaults.'),
);

/** Schema of the configuration of an agent as the CVM of a run gets it, with the private key. */
export const agentConfigForCvm = v.pipe(
  v.object(entries),
  v.title('AgentConfigForCvm'),
  v.description('The configuration of the agent, with its private key.'),
);

/**
 * Schema of the configuration of an agent in answers of the API. Only callers who may edit the computation get the private key.
 */
export const agentConfigOutput = v.pipe(
  v.object({
    ...agentConfigEntries,
    server_key: v.optional(
      v.pipe(certificate, v.description('The private key of the certificate. Only callers who may edit the computation get it.')),
    ),
  }),
  v.title('AgentConfig'),
  v.description('The configuration of the agent in the CVM.'),
);

export type AgentConfig = v.InferOutput<typeof agentConfigInput>;

/** An agent's configuration as it is stored: with its private key encrypted, or '' if it has none. */
export type StoredAgentConfig = Omit<AgentConfig, 'server_key'> & { server_key: StoredKey | '' };

/** The configuration of an agent whose computation was created without one. */
export const defaultAgentConfig: AgentConfig & StoredAgentConfig = { ...v.parse(agentConfigInput, {}), server_key: '' };

const stored = v.object({ agent_config: v.object(agentConfigEntries) });

/** Parses the stored agent configuration of a computation. Returns the default configuration if there is no item. */
export function parseAgentConfig(item: Item | undefined): StoredAgentConfig {
  if (item === undefined) return defaultAgentConfig;
  const { agent_config } = v.parse(stored, item);
  return { ...agent_config, server_key: storedKeyOf(item) };
}

/** Returns the attributes with which an agent's configuration is stored. */
export function agentConfigAttributes({ server_key, ...agent_config }: StoredAgentConfig): Item {
  if (server_key === '') return { agent_config };
  return { agent_config, ...sealedKeyAttributes(server_key) };
}

export function withoutServerKey<T extends { server_key: unknown }>(config: T): Omit<T, 'server_key'> {
  const { server_key: _, ...rest } = config;
  return rest;
}

/** Returns the names of the fields in which two agent configurations differ. Private keys differ if their digests do. */
export function changedConfigFields(before: StoredAgentConfig, after: StoredAgentConfig): (keyof AgentConfig)[] {
  const digestIn = ({ server_key }: StoredAgentConfig) => (server_key === '' ? '' : server_key.digest);
  return (Object.keys(after) as (keyof AgentConfig)[]).filter((field) =>
    field === 'server_key' ? digestIn(before) !== digestIn(after) : before[field] !== after[field],
  );
}

/** The private key of an agent as it is stored: encrypted, with a digest by which changes of the key are noticed. */
export interface StoredKey {
  /** The SHA-256 of the agent's private key in plain text, base64url. */
  digest: string;
  /** The encrypted private key of an agent, as `sealKey` returns it, base64. */
  sealed: string;
}

const sealedAttributes = v.object({ sealed_key: v.string(), key_digest: v.string() });

/**
 * The private key of an agent and the computation for which it is encrypted: the arguments of `SealKey`. They have names so that
 * nobody swaps them: KMS logs the identifier of the computation in plain text.
 */
export interface KeyToSeal {
  computationId: string;
  plain: string;
}

/** Encrypts the private key of an agent for one computation. Returns '' if the key is ''. */
export type SealKey = (given: KeyToSeal) => Promise<StoredKey | ''>;

/** Decrypts the private key of an agent. Returns '' if there is none. */
export type OpenKey = (computationId: string, stored: StoredKey | '') => Promise<string>;

/** Returns the SHA-256 of an agent's private key, base64url, by which changes of the key are noticed. */
export function digestOfKey(plain: string): string {
  return createHash('sha256').update(plain).digest('base64url');
}

/** Returns the attributes with which the encrypted private key of an agent is stored. */
export function sealedKeyAttributes({ sealed, digest }: StoredKey): v.InferOutput<typeof sealedAttributes> {
  return { sealed_key: sealed, key_digest: digest };
}

/** Returns the encrypted private key of an agent that is in a stored item, or '' if the item has none. */
export function storedKeyOf(item: Item | undefined): StoredKey | '' {
  if (item?.['sealed_key'] === undefined) return '';
  const { sealed_key, key_digest } = v.parse(sealedAttributes, item);
  return { digest: key_digest, sealed: sealed_key };
}

/**
 * The cipher of encrypted private keys of agents. Such a key is base64 of the length of the encrypted data key (2 bytes,
 * big-endian), that data key, the nonce, the tag, and the encrypted text. KMS binds the data key to the computation.
 */
const cipher = 'aes-256-gcm';
const lengthBytes = 2;
const nonceBytes = 12;
const tagBytes = 16;

/**
 * Encrypts the private key of an agent for one computation, with a data key that KMS makes in one call. Returns '' without a
 * call if the private key is ''.
 */
export async function sealKey(kms: Kms, { computationId, plain }: KeyToSeal): Promise<StoredKey | ''> {
  if (plain === '') return '';
  const dataKey = await kms.newDataKey(environment().SEALING_KEY_ARN, contextOf(computationId));
  const nonce = randomBytes(nonceBytes);
  const encryption = createCipheriv(cipher, dataKey.plain, nonce);
  const text = Buffer.concat([encryption.update(plain, 'utf8'), encryption.final()]);
  const length = Buffer.alloc(lengthBytes);
  length.writeUInt16BE(dataKey.encrypted.length);
  const sealed = Buffer.concat([length, dataKey.encrypted, nonce, encryption.getAuthTag(), text]).toString('base64');
  return { digest: digestOfKey(plain), sealed };
}

/**
 * Decrypts the private key of an agent with one call of KMS. Returns '' without a call if there is no private key.
 * @throws Error if the private key was encrypted for another computation
 */
export async function openKey(kms: Kms, computationId: string, kept: StoredKey | ''): Promise<string> {
  if (kept === '') return '';
  const bytes = Buffer.from(kept.sealed, 'base64');
  const nonceAt = lengthBytes + bytes.readUInt16BE();
  const tagAt = nonceAt + nonceBytes;
  const textAt = tagAt + tagBytes;
  const encrypted = bytes.subarray(lengthBytes, nonceAt);
  const dataKey = await kms.openDataKey(environment().SEALING_KEY_ARN, encrypted, contextOf(computationId));
  const decryption = createDecipheriv(cipher, dataKey, bytes.subarray(nonceAt, tagAt));
  decryption.setAuthTag(bytes.subarray(tagAt, textAt));
  return Buffer.concat([decryption.update(bytes.subarray(textAt)), decryption.final()]).toString('utf8');
}

function contextOf(computation: string): Record<string, string> {
  return { computation };
}
