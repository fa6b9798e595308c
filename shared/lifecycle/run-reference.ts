import * as v from 'valibot';

/** What an execution knows of its run; everything else is read where it is needed. */
export const runReference = v.object({
  domain: v.string(),
  computation_id: v.string(),
  run_id: v.string(),
  cvm_id: v.string(),
});
export type RunReference = v.InferOutput<typeof runReference>;

/** What a step that waits for the CVM is called with. */
export const waitingStep = v.object({ run: runReference, task_token: v.string() });
