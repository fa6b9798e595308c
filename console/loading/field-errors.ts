import { ServiceProblem } from '../../client/index.ts';

/** Returns what the service says about one field of a form, such as `/name`, and about the entries of a list in it. */
export function fieldError(problem: unknown, field: string): string | undefined {
  if (!(problem instanceof ServiceProblem)) return undefined;
  const texts = problem.errors.filter(({ pointer }) => isAtField(pointer, field)).map((error) => textAtField(error, field));
  return texts.length === 0 ? undefined : texts.join(' ');
}

/** Whether a place in a request is what the field shows, or an entry of it. */
export function isAtField(pointer: string, field: string): boolean {
  return pointer === field || pointer.startsWith(`${field}/`);
}

function textAtField({ pointer, detail }: ServiceProblem['errors'][number], field: string): string {
  if (pointer === field) return detail;
  return `Entry ${Number(pointer.slice(field.length + 1)) + 1}: ${detail}`;
}
