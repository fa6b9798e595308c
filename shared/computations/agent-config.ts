import * as v from 'valibot';
import { strictObject } from '../strict-object.ts';
import { text } from '../text.ts';

const limitInBytes = 16 * 1024;
const certificate = v.pipe(
  text(0, limitInBytes),
  v.check((value) => Buffer.byteLength(value) <= limitInBytes, 'Expected at most 16 KiB in UTF-8.'),
);

const certificateField = (what: string) =>
  v.optional(v.pipe(certificate, v.description(`${what}, as PEM text or as a path inside the CVM. Up to 16 KiB.`)), '');

/** The fields that every reader sees. */
export const agentConfigEntries = {
  log_level: v.optional(
    v.pipe(
      v.picklist(['', 'debug', 'info', 'warn', 'error']),
      v.description('The log level of the agent. Empty: the default of the agent.'),
    ),
    '',
  ),
  cert_file: certificateField('The certificate of the agent'),
  server_ca_file: certificateField('The CA certificate that the agent trusts for servers'),
  client_ca_file: certificateField('The CA certificate that the agent trusts for clients'),
  attested_tls: v.optional(v.pipe(v.boolean(), v.description('Whether the agent uses attested TLS. Default `false`.')), false),
};

const inputEntries = { ...agentConfigEntries, server_key: certificateField('The private key of the certificate') };

/** The configuration of the agent inside the CVM. All fields are optional. */
export const agentConfigInput = v.pipe(strictObject(inputEntries), v.title('NewAgentConfig'));

/** The configuration with all fields, as a CVM gets it. */
export const agentConfigForCvm = v.pipe(v.object(inputEntries), v.title('AgentConfigForCvm'));

/** The configuration as users get it. */
export const agentConfigOutput = v.pipe(
  v.object({
    ...agentConfigEntries,
    server_key: v.optional(
      v.pipe(certificate, v.description('The private key of the certificate. Only callers who may edit the computation get it.')),
    ),
  }),
  v.title('AgentConfig'),
);

export type AgentConfig = v.InferOutput<typeof agentConfigInput>;

export const defaultAgentConfig: AgentConfig = v.parse(agentConfigInput, {});

/** @throws Error if the stored item is not an agent configuration */
export function parseAgentConfig(stored: unknown): AgentConfig {
  return stored === undefined ? defaultAgentConfig : v.parse(agentConfigForCvm, stored);
}

export function withoutServerKey(config: AgentConfig): Omit<AgentConfig, 'server_key'> {
  const { server_key: _, ...rest } = config;
  return rest;
}

/** Returns the names of the fields that differ. */
export function changedConfigFields(before: AgentConfig, after: AgentConfig): (keyof AgentConfig)[] {
  return (Object.keys(after) as (keyof AgentConfig)[]).filter((field) => before[field] !== after[field]);
}

export function isDefaultAgentConfig(config: AgentConfig): boolean {
  return changedConfigFields(defaultAgentConfig, config).length === 0;
}
