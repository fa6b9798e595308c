import { ServiceProblem } from 'computation-management-client';
import { describeProblem } from 'computation-management-words';

/** Describes an error. @param fields the places in the request whose errors are shown at the fields of a form, such as `/name` */
export function problemText(error: unknown, fields: readonly string[] = []) {
  return describeProblem(error, (pointer) => fields.some((field) => isAtField(pointer, field)));
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
