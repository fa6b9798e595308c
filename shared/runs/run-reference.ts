import * as v from 'valibot';

/** An execution's input: the identifiers of its run. Steps read everything else when they need it. */
export const runReference = v.object({
  domain: v.string(),
  computation_id: v.string(),
  run_id: v.string(),
  cvm_id: v.string(),
});
export type RunReference = v.InferOutput<typeof runReference>;

/** What ended a wait if the CVM did not. */
export const endings = ['not_accepted', 'silence', 'run_timeout', 'failure'] as const;
export type EndedBy = (typeof endings)[number];

/** Input of the step that records the outcome. */
export const endingRun = v.object({ ...runReference.entries, ended_by: v.optional(v.picklist(endings)) });

/** Input of a step that waits for the CVM. */
export const waitingStep = v.object({ run: runReference, task_token: v.string() });
export type WaitingStep = v.InferOutput<typeof waitingStep>;
