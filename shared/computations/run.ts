import * as v from 'valibot';
import { cvmId, identifier } from '../identifier-schemas.ts';
import { timestamp } from '../timestamp.ts';

/** A run starts as `running` and ends in exactly one of the last three statuses. */
const runStatuses = ['running', 'stopping', 'completed', 'failed', 'cancelled'] as const;

export const finalStatuses = ['completed', 'failed', 'cancelled'] as const;

export function isActive(status: string): boolean {
  return status === 'running' || status === 'stopping';
}

/** A run as endpoints 3, 7, 8 and 13 return it (docs/contract.md, section 4). */
export const runSchema = v.object({
  id: identifier,
  computation_id: identifier,
  cvm_id: cvmId,
  status: v.picklist(runStatuses),
  started_at: timestamp,
  ended_at: v.pipe(v.nullable(timestamp), v.description('null while the run is active.')),
  started_by: v.pipe(v.string(), v.description('The user who started it.')),
  reason: v.pipe(v.nullable(v.string()), v.description('Why it ended as it did; null while the run is active.')),
});
export type Run = v.InferOutput<typeof runSchema>;
