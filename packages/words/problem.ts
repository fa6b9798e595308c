import { CutOffError, placeInDetail, placeText, ServiceProblem } from 'computation-management-client';
import { describeMissing } from './readiness.ts';
import { sentence } from './texts.ts';

/** An error in the words that a user reads. */
export interface ProblemText {
  title: string;
  /** The error in a sentence: what is wrong. */
  detail: string;
  /** The next step of the user. Undefined if no step is known. */
  advice: string | undefined;
  /**
   * The invalid places of the request and the items that a run waits for, one sentence for each. Leaves out the one that `detail` names.
   */
  points: string[];
  /** The identifier of the request in the logs of the operator. */
  requestId: string | undefined;
}

/** Says that a user may not do something, without a full stop. @param user the quoted name of the user. Default: `You` */
export function mayNot(user = 'You'): string {
  return `${user} may not do this`;
}

const titles: Partial<Record<ServiceProblem['code'], string>> = {
  invalid_request: 'The request is not valid',
  unauthenticated: 'You are not signed in',
  forbidden: mayNot(),
  not_found: 'This does not exist',
  conflict: 'This is not possible now',
  precondition_failed: 'This has changed in the meantime',
  too_large: 'This is too large',
  incomplete: 'The computation is not ready',
  too_many_requests: 'The service takes no more requests now',
  unavailable: 'The service cannot answer now',
  unreachable: 'No service answers',
};

/** The advice for a user whose roles do not allow a request. */
export const askForRole = 'Ask an administrator of the domain for a role that allows it. Then sign in again.';

/** The advice for errors that pass by themselves, such as a busy service. */
export const waitAMinute = 'Try again in a minute.';

const advices: Partial<Record<ServiceProblem['code'], string>> = {
  unauthenticated: 'Keep a copy of what you have typed: signing in again loses it.',
  forbidden: askForRole,
  not_found: 'Its identifier may be mistyped or cut, or it was deleted, or belongs to another domain. Look for it in its list.',
  incomplete:
    'Users add their keys, creators of files the content, a provider the algorithm. The page of the computation names them.',
  too_many_requests: waitAMinute,
  unavailable: waitAMinute,
  unreachable: 'Check your connection, then try again.',
};

const operatorsOwn: ServiceProblem['code'][] = ['internal', 'unexpected'];

function tellOperator(requestId: string | undefined): string {
  const what = requestId === undefined ? 'tell' : 'send the request identifier below to';
  return `Try again. If it happens again, ${what} the operator of the service.`;
}

/**
 * Describes an error in the words that a user reads.
 * @param isShown returns whether the error at a place of the request, such as `/name`, is shown elsewhere, and is left out here
 */
export function describeProblem(error: unknown, isShown: (pointer: string) => boolean = () => false): ProblemText {
  if (!(error instanceof ServiceProblem)) {
    const detail = sentence(error instanceof Error ? error.message : String(error));
    const isCut = error instanceof CutOffError;
    const title = isCut ? 'The transfer is not complete' : 'Something went wrong';
    return { title, detail, advice: isCut ? advices.unreachable : undefined, points: [], requestId: undefined };
  }
  const { code, missing_items, requestId } = error;
  const repeated = placeInDetail(error);
  const places = error.errors.filter((at) => at !== repeated && !isShown(at.pointer));
  const missing = missing_items ? describeMissing(missing_items) : [];
  return {
    title: titles[code] ?? 'Something went wrong',
    detail: repeated && isShown(repeated.pointer) ? 'Correct the fields that are marked.' : sentence(error.detail),
    advice: operatorsOwn.includes(code) ? tellOperator(requestId) : advices[code],
    points: [...places.map(placeText), ...missing.map((item) => item.sentence)],
    requestId,
  };
}
