import * as v from 'valibot';
import { agentConfigForCvm, type StoredAgentConfig } from '../computations/agent-config.ts';
import { manifestSchema } from '../manifest/manifest.ts';
import { identifier } from '../identifier-schemas.ts';
import { timestamp } from '../timestamp.ts';

/** A command for a CVM (endpoint 25). */
export const commandSchema = v.pipe(
  v.object({
    id: v.pipe(v.string(), v.uuid()),
    type: v.picklist(['run', 'stop']),
    run_id: identifier,
    computation_id: identifier,
    manifest: v.optional(manifestSchema),
    agent_config: v.optional(agentConfigForCvm),
    issued_at: timestamp,
    expires_at: v.pipe(
      timestamp,
      v.description('The service returns the command until this time, or until the CVM accepts or rejects it.'),
    ),
  }),
  v.title('Command'),
);
export type Command = v.InferOutput<typeof commandSchema>;

/** A command whose private key is not opened yet. */
export type KeptCommand = Omit<Command, 'agent_config'> & { agent_config?: StoredAgentConfig };
