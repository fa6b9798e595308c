import type { Schemas } from '../../client/index.ts';

type AgentConfig = Required<Schemas['AgentConfigInput']>;

/** What the form of a computation edits. */
export interface ComputationFields {
  name: string;
  description: string;
  owner: string;
  approval: Schemas['Computation']['approval'];
  consumers: string[];
  agent_config: AgentConfig;
}

const noConfiguration: AgentConfig = {
  log_level: '',
  cert_file: '',
  server_key: '',
  server_ca_file: '',
  client_ca_file: '',
  attested_tls: false,
};

export function newFields(owner: string): ComputationFields {
  return { name: '', description: '', owner, approval: 'none', consumers: [], agent_config: noConfiguration };
}

export function fieldsOf(computation: Schemas['Computation']): ComputationFields {
  const { name, description, owner, approval, consumers, agent_config } = computation;
  return { name, description, owner, approval, consumers, agent_config: { ...noConfiguration, ...agent_config } };
}

/** Returns the users of a text, separated by commas or line breaks, each once. */
export function usersOf(text: string): string[] {
  return [
    ...new Set(
      text
        .split(/[,\n]/)
        .map((user) => user.trim())
        .filter((user) => user !== ''),
    ),
  ];
}
