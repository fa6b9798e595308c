import * as v from 'valibot';
import { strictObject } from '../strict-object.ts';
import { text } from '../text.ts';

const limitInBytes = 16 * 1024;
const certificate = v.pipe(
  text(0, limitInBytes),
  v.check((value) => Buffer.byteLength(value) <= limitInBytes, 'Expected at most 16 KiB in UTF-8.'),
);

const certificateField = (what: string) =>
  v.optional(v.pipe(certificate, v.description(`${what}: PEM text, or a path inside the CVM. At most 16 KiB.`)), '');

const entries = {
  log_level: v.optional(
    v.pipe(v.picklist(['', 'debug', 'info', 'warn', 'error']), v.description('The log level the agent is asked for.')),
    '',
  ),
  cert_file: certificateField("The agent's certificate"),
  server_ca_file: certificateField('The CA that the agent trusts for servers'),
  client_ca_file: certificateField('The CA that the agent trusts for clients'),
  attested_tls: v.optional(v.pipe(v.boolean(), v.description('Whether the agent serves attested TLS.')), false),
};

/** How the agent inside the CVM serves its users; every field has a default, so none is required. */
export const agentConfigInput = strictObject({ ...entries, server_key: certificateField("The certificate's private key") });

/** As answered: `server_key` only to those who may edit the computation, and to its CVM. */
export const agentConfigOutput = v.object({
  ...entries,
  server_key: v.optional(
    v.pipe(certificate, v.description('A private key: left out unless the caller may edit the computation.')),
  ),
});

export type AgentConfig = v.InferOutput<typeof agentConfigInput>;

export const defaultAgentConfig: AgentConfig = v.parse(agentConfigInput, {});

/** @throws Error if the stored item is not an agent configuration */
export function parseAgentConfig(stored: unknown): AgentConfig {
  return stored === undefined ? defaultAgentConfig : v.parse(v.object(agentConfigInput.entries), stored);
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
