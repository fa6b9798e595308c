import * as v from 'valibot';
import type { Run } from '../computations/run.ts';

/** An execution's input: the identifiers of its run. Steps read everything else when they need it. */
export const runReference = v.object({
  domain: v.string(),
  computation_id: v.string(),
  run_id: v.string(),
  cvm_id: v.string(),
});
export type RunReference = v.InferOutput<typeof runReference>;

export function referenceTo(domain: string, { id, computation_id, cvm_id }: Run): RunReference {
  return { domain, computation_id, run_id: id, cvm_id };
}

/** What ended a wait if the CVM did not. */
export const endings = ['not_accepted', 'silence', 'run_timeout', 'failure'] as const;
export type EndedBy = (typeof endings)[number];

/** Input of the step that records the outcome. */
export const endingRun = v.object({ ...runReference.entries, ended_by: v.optional(v.picklist(endings)) });

/** Input of a step that waits for the CVM. */
export const waitingStep = v.object({ run: runReference, task_token: v.string() });
export type WaitingStep = v.InferOutput<typeof waitingStep>;
