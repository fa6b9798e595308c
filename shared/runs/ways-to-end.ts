import * as v from 'valibot';
import { finalStatuses } from '../computations/run.ts';

/** How a run ended, with a reason that users read. */
export const ending = v.object({
  status: v.picklist(finalStatuses),
  reason: v.string(),
  /** Whether the CVM confirmed the stop. Only for cancelled runs. */
  is_confirmed: v.optional(v.boolean()),
});
export type Ending = v.InferOutput<typeof ending>;
