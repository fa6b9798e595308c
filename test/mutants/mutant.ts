/** One small change of a source file that tests or types should notice. */
export interface Mutant {
  /** Path from the root of the repository, with `/`. */
  file: string;
  operator: string;
  /** Position of the replaced text in the file, the end exclusive. */
  start: number;
  end: number;
  replacement: string;
}

/** A mutant as people name it: by code, so that the name survives when lines move. */
export interface MutantName {
  file: string;
  /** The changed lines before and after, white space collapsed. */
  before: string;
  after: string;
}

export function applyTo(text: string, { start, end, replacement }: Pick<Mutant, 'start' | 'end' | 'replacement'>): string {
  return text.slice(0, start) + replacement + text.slice(end);
}

export function nameOf(mutant: Mutant, text: string): MutantName {
  const from = text.lastIndexOf('\n', mutant.start - 1) + 1;
  const lineEnd = text.indexOf('\n', mutant.end);
  const to = lineEnd < 0 ? text.length : lineEnd;
  const changed = text.slice(from, mutant.start) + mutant.replacement + text.slice(mutant.end, to);
  return { file: mutant.file, before: collapsed(text.slice(from, to)), after: collapsed(changed) };
}

export function isNamed(name: MutantName, other: MutantName): boolean {
  return (
    name.file === other.file &&
    collapsed(name.before) === collapsed(other.before) &&
    collapsed(name.after) === collapsed(other.after)
  );
}

export function lineOf(text: string, position: number): number {
  return text.slice(0, position).split('\n').length;
}

function collapsed(code: string): string {
  return code.trim().replace(/\s+/g, ' ');
}
