import type { Schemas } from 'computation-management-client';

type AgentConfig = Required<Schemas['AgentConfigInput']>;

/**
 * What the form of a computation edits. Fields that it does not show are kept, because a replacement resets those that it leaves
 * out.
 */
export type ComputationFields = Given & Required<Pick<Given, Shown>> & { agent_config: AgentConfig };
type Given = Schemas['ComputationInput'];
type Shown = 'description' | 'owner' | 'approval' | 'consumers' | 'providers';

const noConfiguration: AgentConfig = {
  log_level: '',
  cert_file: '',
  server_key: '',
  server_ca_file: '',
  client_ca_file: '',
  attested_tls: false,
};

export function newFields(owner: string): ComputationFields {
  return { name: '', description: '', owner, approval: 'none', consumers: [], providers: [], agent_config: noConfiguration };
}

export function fieldsOf(computation: Schemas['Computation']): ComputationFields {
  const { id: _, status: _1, created_at: _2, updated_at: _3, assets: _4, run: _5, ...given } = computation;
  return { ...given, agent_config: { ...noConfiguration, ...given.agent_config } };
}

/** Returns what a duplicate begins with. It belongs to its creator, and the agent's private key stays with the first. */
export function copyOf(computation: Schemas['Computation'], owner: string): ComputationFields {
  const fields = fieldsOf(computation);
  const name = `Copy of ${computation.name}`.slice(0, 200);
  return { ...fields, name, owner, agent_config: { ...fields.agent_config, server_key: '' } };
}

/** The policies in the order in which they may be raised. They are never lowered. */
export const approvalPolicies = ['none', 'all', 'all_signed'] as const;
