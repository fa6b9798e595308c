import * as v from 'valibot';
import { agentConfigInput } from '../computations/agent-config.ts';
import { manifestSchema } from '../manifest/manifest.ts';
import { identifier } from '../identifier-schemas.ts';
import { timestamp } from '../timestamp.ts';

/** A command for a CVM (endpoint 25). */
export const commandSchema = v.object({
  id: v.pipe(v.string(), v.uuid()),
  type: v.picklist(['run', 'stop']),
  run_id: identifier,
  computation_id: identifier,
  manifest: v.optional(manifestSchema),
  agent_config: v.optional(v.object(agentConfigInput.entries)),
  issued_at: timestamp,
  expires_at: v.pipe(timestamp, v.description('It comes back until it is accepted or rejected, or until then.')),
});
export type Command = v.InferOutput<typeof commandSchema>;
