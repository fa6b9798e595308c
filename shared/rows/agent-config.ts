import { whyWeakCertificates } from 'computation-management-formats/certificates';
import { certificate, namedInput, described, namedObject } from 'computation-management-formats/fields';
import { holdsPrivateKey } from 'computation-management-formats/holds-private-key';
import { logLevels } from 'computation-management-formats/vocabulary';
import * as v from 'valibot';
import type { Item } from '../table/table.ts';
import { sealedKeyAttributes, type StoredKey, storedKeyOf } from './sealed-key.ts';

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
    described(v.picklist(['', ...logLevels]), 'The log level of the agent. Empty: the default of the agent.'),
    '',
  ),
  cert_file: certificateField('The certificate of the agent'),
  server_ca_file: certificateField('The CA certificate that the agent trusts for servers'),
  client_ca_file: certificateField('The CA certificate that the agent trusts for clients'),
  attested_tls: v.optional(described(v.boolean(), 'Whether the agent uses attested TLS. Default `false`.'), false),
};

const entries = {
  ...agentConfigEntries,
  server_key: v.optional(described(certificate, asPemOrPath('The private key of the certificate')), ''),
};

export const agentConfigInput = v.pipe(
  namedInput('AgentConfigInput', 'The configuration of the agent in the CVM. Omitted fields get their defaults.', entries),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    const input = dataset.value;
    for (const key of ['cert_file', 'server_ca_file', 'client_ca_file'] as const) {
      const message = whyWeakCertificates(input[key]);
      if (message) addIssue({ message, path: [{ type: 'object', origin: 'value', input, key, value: input[key] }] });
    }
  }),
);

/** Schema of the configuration of an agent as the CVM of a run gets it, with the private key. */
export const agentConfigForCvm = namedObject(
  'AgentConfigForCvm',
  'The configuration of the agent, with its private key.',
  entries,
);

/**
 * Schema of the configuration of an agent in answers of the API. Only callers who may edit the computation get the private key.
 */
export const agentConfigOutput = namedObject('AgentConfig', 'The configuration of the agent in the CVM.', {
  ...agentConfigEntries,
  server_key: v.optional(
    described(certificate, 'The private key of the certificate. Only callers who may edit the computation get it.'),
  ),
});

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
