import * as v from 'valibot';
import { agentConfigForCvm, type StoredAgentConfig } from '../computations/agent-config.ts';
import { manifestSchema } from '../manifest/manifest.ts';
import { idOfComputation, idOfRun } from '../identifier-schemas.ts';
import { timestamp } from '../timestamp.ts';

/** A command for a CVM (endpoint 25). */
export const commandSchema = v.pipe(
  v.object({
    id: v.pipe(v.string(), v.uuid(), v.description('The identifier of the command, for the report that answers it.')),
    type: v.pipe(v.picklist(['run', 'stop']), v.description('Whether to begin the run or to stop it.')),
    run_id: idOfRun,
    computation_id: idOfComputation,
    manifest: v.optional(manifestSchema),
    agent_config: v.optional(agentConfigForCvm),
    issued_at: v.pipe(timestamp, v.description('The time at which the service made the command.')),
    expires_at: v.pipe(
      timestamp,
      v.description('The service returns the command until this time, or until the CVM accepts or rejects it.'),
    ),
  }),
  v.title('Command'),
  v.description('A command for a CVM.'),
);
export type Command = v.InferOutput<typeof commandSchema>;

/** A command whose private key is not opened yet. */
export type KeptCommand = Omit<Command, 'agent_config'> & { agent_config?: StoredAgentConfig };
