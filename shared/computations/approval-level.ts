import { invalid } from '../errors.ts';
import { approvalLevels, type ApprovalLevel } from './computation.ts';

/**
 * Refuses to lower the approval that a run needs: parties may have joined because of it.
 * @throws ServiceError `invalid_request`
 */
export function refuseLowerApproval(before: ApprovalLevel, after: ApprovalLevel): void {
  const allowed = approvalLevels.slice(approvalLevels.indexOf(before));
  if (allowed.includes(after)) return;
  throw invalid('/approval', `Expected ${allowed.join(' or ')}: the approval that a run needs can only be raised.`);
}
