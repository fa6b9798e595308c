import * as v from 'valibot';

/** What an execution knows of its run; everything else is read where it is needed. */
export const runReference = v.object({
  domain: v.string(),
  computation_id: v.string(),
  run_id: v.string(),
  cvm_id: v.string(),
});
export type RunReference = v.InferOutput<typeof runReference>;

/** What ended a wait, where the CVM did not. */
export const endings = ['not_accepted', 'silence', 'run_timeout', 'failure'] as const;
export type EndedBy = (typeof endings)[number];

/** What the step that records the outcome is called with. */
export const endingRun = v.object({ ...runReference.entries, ended_by: v.optional(v.picklist(endings)) });

/** What a step that waits for the CVM is called with. */
export const waitingStep = v.object({ run: runReference, task_token: v.string() });
export type WaitingStep = v.InferOutput<typeof waitingStep>;
