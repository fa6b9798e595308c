import { printable } from 'computation-management-formats/printable';

/** A fact that a check of evidence found, as a sentence. A `note` is something that the evidence cannot show. */
export interface Finding {
  verdict: 'holds' | 'does not hold' | 'note';
  sentence: string;
}

export function holds(sentence: string): Finding {
  return { verdict: 'holds', sentence };
}

export function fails(sentence: string): Finding {
  return { verdict: 'does not hold', sentence };
}

export function note(sentence: string): Finding {
  return { verdict: 'note', sentence };
}

/**
 * Quotes a text of somebody else, so that it cannot read like a part of the sentence around it. Escapes its quotes, and
 * characters that a terminal does not show as they are, or not at all.
 */
export function quoted(text: string): string {
  const escape = (character: string) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
  return JSON.stringify(text).replace(/[\p{C}\p{DI}\u2800]|(?! )\p{Z}/gu, escape);
}

export const quotedList = (texts: readonly string[]) => texts.map(quoted).join(', ');

/**
 * Returns the finding of a check: the first sentence, which `holds`, if the fact is true, else the second, which `does not hold`.
 */
export function check(fact: boolean, sentence: string, otherwise: string): Finding {
  return fact ? holds(sentence) : fails(otherwise);
}

const labels: Record<Finding['verdict'], string> = {
  holds: 'HOLDS         ',
  'does not hold': 'DOES NOT HOLD ',
  note: 'NOTE          ',
};

/**
 * Formats the findings of a check: a line for each, then whether everything that was checked holds. The sentences quote the
 * evidence, which may be forged: no text in it begins a line of its own.
 */
export function formatFindings(findings: readonly Finding[]): string {
  const lines = findings.map(({ verdict, sentence }) => `${labels[verdict]} ${printable(sentence)}\n`);
  return `${lines.join('')}\n${sumOf(findings)}\n`;
}

/** Says in a sentence whether everything that was checked holds, or how many facts do not. */
export function sumOf(findings: readonly Finding[]): string {
  const failed = findings.filter(({ verdict }) => verdict === 'does not hold').length;
  const notes = findings.filter(({ verdict }) => verdict === 'note').length;
  const everything =
    notes === 0 ? 'Everything holds.' : `Everything that was checked holds (${notes} ${notes === 1 ? 'note' : 'notes'}).`;
  return failed === 0 ? everything : `${failed} of ${findings.length} facts ${failed === 1 ? 'does' : 'do'} not hold.`;
}
