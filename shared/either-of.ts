/** Joins alternatives for a sentence: `a, b or c`. */
export function eitherOf(alternatives: readonly string[]): string {
  return new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(alternatives);
}
