import type { Schemas } from 'computation-management-client';
import type { Terminal } from '../terminal.ts';
import { details } from './details.ts';
import { relativeTime } from './relative-time.ts';

/** Formats a computation with its inputs and its latest run. */
export function computationDetails(computation: Schemas['ComputationView'], { now }: Pick<Terminal, 'now'>): string {
  const { id, name, description, owner, status, approval, consumers, assets, run, created_at, updated_at } = computation;
  const ago = (timestamp: string) => relativeTime(timestamp, now());
  return details([
    ['Name', name],
    ['Identifier', id],
    ['Description', description],
    ['Owner', owner],
    ['Status', status],
    ['Approval', approval],
    ['Consumers', (consumers ?? []).join(', ')],
    ['Log level', computation.agent_config?.log_level],
    ['Created', ago(created_at)],
    ['Changed', ago(updated_at)],
    ['Inputs', assets?.map((asset) => `${asset.asset_type}  ${asset.file_name}  ${asset.id}`)],
    ['Latest run', run && `${run.id} on ${run.cvm_id}: ${run.status}, started ${ago(run.started_at)} by ${run.started_by}`],
    ['Reason', run?.reason],
  ]);
}
