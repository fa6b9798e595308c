import { printable } from 'computation-management-formats/printable';
import { userText } from 'computation-management-formats/quoted-name';

/**
 * A fact that a check of evidence found, as a sentence. `not checked`: the computation demanded something (a policy, a signature, an
 * approval) that the given files do not let one check. `note`: something that evidence of this kind cannot show.
 */
export interface Finding {
  verdict: 'holds' | 'does not hold' | 'not checked' | 'note';
  sentence: string;
}

const finding =
  (verdict: Finding['verdict']) =>
  (sentence: string): Finding => ({ verdict, sentence });
export const holds = finding('holds');
export const fails = finding('does not hold');
export const unchecked = finding('not checked');
export const note = finding('note');

/**
 * Quotes a text of somebody else, so that it cannot read like a part of the sentence around it. Escapes its quotes, and
 * characters that a terminal does not show as they are, or not at all.
 */
export function quoted(text: string): string {
  const escape = (character: string) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
  return JSON.stringify(text).replace(/[\p{C}\p{DI}\u2800]|(?! )\p{Z}/gu, escape);
}

/** Quotes the identifier of a user, written as `userText` does, so that no two users look alike. */
export function party(user: string): string {
  const text = userText(user);
  return text.startsWith('"') ? text : `"${text}"`;
}

/** Quotes the identifiers of users, each as `party` does, and lists them. */
export const parties = (users: readonly string[]) => users.map(party).join(', ');

/**
 * Returns the finding of a check: the first sentence, which `holds`, if the fact is true, else the second, which `does not hold`.
 */
export const check = (fact: boolean, sentence: string, otherwise: string): Finding => (fact ? holds(sentence) : fails(otherwise));

/** Returns the finding with a sentence about what does not hold, if that is so. */
export const failsIf = (isWrong: boolean, sentence: string): Finding[] => (isWrong ? [fails(sentence)] : []);

/** Returns the names of those facts that are false. */
export const falseAmong = (facts: Readonly<Record<string, boolean>>) =>
  Object.keys(facts).filter((name) => facts[name] === false);

const labels: Record<Finding['verdict'], string> = {
  holds: 'HOLDS         ',
  'does not hold': 'DOES NOT HOLD ',
  'not checked': 'NOT CHECKED   ',
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

/** Says in a sentence whether everything that was checked holds, how many facts do not, and how many were not checked. */
export function sumOf(findings: readonly Finding[]): string {
  const count = (verdict: Finding['verdict']) => findings.filter((each) => each.verdict === verdict).length;
  const [failed, open, notes] = [count('does not hold'), count('not checked'), count('note')];
  if (failed > 0) return `${failed} of ${findings.length} facts ${failed === 1 ? 'does' : 'do'} not hold.`;
  const aside = notes === 0 ? '' : ` (${notes} ${notes === 1 ? 'note' : 'notes'})`;
  if (open > 0) return `Nothing is false, but ${open === 1 ? 'one fact was' : `${open} facts were`} not checked${aside}.`;
  return notes === 0 ? 'Everything holds.' : `Everything that was checked holds${aside}.`;
}

/** Returns the exit code of a command that checks evidence: 1 if a fact does not hold, else 3 if a fact was not checked, else 0. */
export function exitCodeOf(findings: readonly Finding[]): 0 | 1 | 3 {
  if (findings.some(({ verdict }) => verdict === 'does not hold')) return 1;
  return findings.some(({ verdict }) => verdict === 'not checked') ? 3 : 0;
}
