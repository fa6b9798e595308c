import { ServiceProblem } from 'computation-management-client';
import { describeProblem } from 'computation-management-words';

/**
 * Describes an error in the words that a user reads.
 * @param fields the places in the request whose errors are shown at the fields of a form, such as `/name`
 */
export function problemText(error: unknown, fields: readonly string[] = []) {
  return describeProblem(error, (pointer) => fields.some((field) => isAtField(pointer, field)));
}

export type FieldErrors<Field extends string> = ReturnType<typeof fieldErrors<Field>>;

/**
 * Returns the errors of the service by the fields of a form.
 * @param fields all fields of the form. Errors at other places are shown elsewhere
 */
export function fieldErrors<const Field extends string>(problem: unknown, fields: readonly Field[]) {
  return {
    fields,
    /** Returns the service's error for the value of a field, or for the entries of a list in the field. Undefined if there is none. */
    at: (field: Field) => fieldError(problem, field),
  };
}

function fieldError(problem: unknown, field: string): string | undefined {
  if (!(problem instanceof ServiceProblem)) return undefined;
  const texts = problem.errors.filter(({ pointer }) => isAtField(pointer, field)).map((error) => textAtField(error, field));
  return texts.length === 0 ? undefined : texts.join(' ');
}

/** Returns whether a place in a request is the value of a form's field, or an entry of that value. */
function isAtField(pointer: string, field: string): boolean {
  return pointer === field || pointer.startsWith(`${field}/`);
}

function textAtField({ pointer, detail }: ServiceProblem['errors'][number], field: string): string {
  if (pointer === field) return detail;
  const entry = pointer.slice(field.length + 1);
  return `${/^\d+$/.test(entry) ? `Entry ${Number(entry) + 1}` : entry}: ${detail}`;
}

/** Returns null for the error of something that does not exist. @throws any other error */
export function nullIfAbsent(problem: unknown): null {
  if (problem instanceof ServiceProblem && problem.code === 'not_found') return null;
  throw problem;
}
