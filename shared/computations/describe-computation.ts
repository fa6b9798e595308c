import type { Caller } from '../access/caller.ts';
import { withoutServerKey } from './agent-config.ts';
import type { Computation, StoredComputation } from './computation.ts';
import { type Definition } from './definition.ts';

/** Builds the computation that the caller may see. Only editors see `server_key` (docs/contract.md, section 2). */
export function describeComputation(row: StoredComputation, definition: Definition, caller: Caller): Computation {
  const mayEdit = caller.actions.has('edit') || caller.id === row.owner;
  const { agent_config, algorithm, datasets } = definition;
  return {
    ...row,
    agent_config: mayEdit ? agent_config : withoutServerKey(agent_config),
    assets: [...(algorithm ? [algorithm] : []), ...datasets].map(({ asset_id, file_name, asset_type }) => ({
      id: asset_id,
      file_name,
      asset_type,
    })),
  };
}
