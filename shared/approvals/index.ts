/**
 * The interface of `shared/approvals`, which decides whose approvals a run needs, which of the given ones count, who refuses, and what
 * a run still lacks. Code outside of this folder, except for the handlers of approvals, imports only these names.
 */

export { describeRefusal, type Refusal, refusalSchema } from './approval.ts';
export {
  becauseOf,
  type CvmOfRun,
  isIncomplete,
  missingApprovals,
  mostReasons,
  neededApprovals,
  readinessOf,
  keysWithoutPolicy,
} from './readiness.ts';
