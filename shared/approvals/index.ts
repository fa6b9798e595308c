export {
  becauseOf,
  type CvmOfRun,
  isIncomplete,
  missingApprovals,
  mostReasons,
  neededApprovals,
  readinessOf,
} from './readiness.ts';
