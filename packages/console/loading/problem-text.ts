import { CutOffError, placeInDetail, placeText, ServiceProblem } from 'computation-management-client';
import { plainName } from 'computation-management-formats/quoted-name';
import { askForRole } from '../access/permissions.ts';

interface ProblemText {
  title: string;
  detail: string;
  /** What the user does next, where there is something. */
  advice: string | undefined;
  /** Places and missing items, one sentence each. */
  points: string[];
  requestId: string | undefined;
}

const titles: Partial<Record<ServiceProblem['code'], string>> = {
  invalid_request: 'The request is not valid',
  unauthenticated: 'You are not signed in',
  forbidden: 'You may not do this',
  not_found: 'This does not exist',
  conflict: 'This is not possible now',
  precondition_failed: 'This has changed in the meantime',
  too_large: 'This is too large',
  incomplete: 'Something is missing',
  too_many_requests: 'Too many requests',
  unavailable: 'The service is busy',
  unreachable: 'The service does not answer',
};

function tellOperator(requestId: string | undefined): string {
  const what = requestId === undefined ? 'tell' : 'send the request identifier below to';
  return `Try again. If it happens again, ${what} the operator of the service.`;
}

const advices: Partial<Record<ServiceProblem['code'], string>> = {
  unauthenticated: 'Keep a copy of what you have typed: signing in again loses it.',
  forbidden: askForRole,
  not_found: 'It may have been deleted, or belong to another domain. Look for it in its list.',
  too_many_requests: 'Try again in a minute.',
  unavailable: 'Try again in a minute.',
  unreachable: 'Check your connection, then try again.',
};
const operatorsOwn: ServiceProblem['code'][] = ['internal', 'unexpected'];

/**
 * Returns what a user reads about an error.
 * @param fields the places in the request whose errors are shown at the fields of a form, such as `/name`. They are not repeated.
 */
export function problemText(error: unknown, fields: readonly string[] = []): ProblemText {
  if (!(error instanceof ServiceProblem)) {
    const detail = sentence(error instanceof Error ? error.message : String(error));
    const isCut = error instanceof CutOffError;
    const title = isCut ? 'The transfer is not complete' : 'Something went wrong';
    return { title, detail, advice: isCut ? advices.unreachable : undefined, points: [], requestId: undefined };
  }
  const { keys = [], hashes = [], info = [] } = error.missing_items ?? {};
  const repeated = placeInDetail(error);
  const isAtFields = (at: ServiceProblem['errors'][number]) => fields.some((field) => isAtField(at.pointer, field));
  return {
    title: titles[error.code] ?? 'Something went wrong',
    detail: repeated && isAtFields(repeated) ? 'Correct the fields that are marked.' : sentence(error.detail),
    advice: operatorsOwn.includes(error.code) ? tellOperator(error.requestId) : advices[error.code],
    points: [
      ...error.errors.filter((at) => at !== repeated && !isAtFields(at)).map(placeText),
      ...missingSentences({ keys, hashes, info }),
    ],
    requestId: error.requestId,
  };
}

/** Ends a text with a full stop if it has none, such as the browser's word for a lost connection. */
function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

/** Returns what a dry run reports as missing, one sentence each. */
export function missingSentences(missing: { keys: string[]; hashes: string[]; info: string[] }): string[] {
  return [
    ...missing.keys.map((user) => `Public key of ${plainName(user)}`),
    ...missing.hashes.map((file) => `Content of ${plainName(file)}`),
    ...missing.info,
  ];
}

export interface FieldErrors<Field extends string> {
  /** The places in the request whose errors are shown at fields, such as `/name`. */
  fields: readonly Field[];
  /** Returns what the service says about a field, and about the entries of a list in it. */
  at: (field: Field) => string | undefined;
}

/** The errors of the fields of a form. `fields` names all of them, so that the rest of a problem is shown elsewhere. */
export function fieldErrors<const Field extends string>(problem: unknown, fields: readonly Field[]): FieldErrors<Field> {
  return { fields, at: (field) => fieldError(problem, field) };
}

function fieldError(problem: unknown, field: string): string | undefined {
  if (!(problem instanceof ServiceProblem)) return undefined;
  const texts = problem.errors.filter(({ pointer }) => isAtField(pointer, field)).map((error) => textAtField(error, field));
  return texts.length === 0 ? undefined : texts.join(' ');
}

/** Whether a place in a request is what the field shows, or an entry of it. */
function isAtField(pointer: string, field: string): boolean {
  return pointer === field || pointer.startsWith(`${field}/`);
}

function textAtField({ pointer, detail }: ServiceProblem['errors'][number], field: string): string {
  if (pointer === field) return detail;
  return `Entry ${Number(pointer.slice(field.length + 1)) + 1}: ${detail}`;
}
