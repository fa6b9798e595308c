import { acceptedReason } from './accepted-mutants.ts';
import type { Verdict } from './judge.ts';
import { lineOf, nameOf, type Mutant } from './mutant.ts';

export interface Judged {
  mutant: Mutant;
  text: string;
  verdict: Verdict;
}

/** The share of mutants that tests notice, 0 to 1, of those that compile. A test run that does not end notices, too. */
export function scoreOf(judged: Judged[]): number {
  const compiled = judged.filter(({ verdict }) => verdict.outcome !== 'uncompiled');
  return compiled.filter(({ verdict }) => verdict.outcome !== 'survived').length / compiled.length;
}

/** Names the mutants that survive without an accepted reason: each needs a test or a reason. */
export function unexplained(judged: Judged[]): string[] {
  return judged
    .filter(({ mutant, text, verdict }) => verdict.outcome === 'survived' && acceptedReason(nameOf(mutant, text)) === undefined)
    .map(placeOf);
}

export function reportOn(judged: Judged[]): string {
  const count = (outcome: Verdict['outcome']) => judged.filter(({ verdict }) => verdict.outcome === outcome).length;
  const survivors = judged.filter(({ verdict }) => verdict.outcome === 'survived');
  const counts = `${count('killed')} killed, ${count('timeout')} timed out, ${count('survived')} survived`;
  const summary = `${judged.length} mutants: ${counts}, ${count('uncompiled')} do not compile.`;
  const late = judged.filter(({ verdict }) => verdict.outcome === 'timeout');
  return [...late.map(described), ...survivors.map(described), summary, `Score: ${(100 * scoreOf(judged)).toFixed(1)} %`].join(
    '\n\n',
  );
}

function placeOf({ mutant, text }: Judged): string {
  return `${mutant.file}:${lineOf(text, mutant.start)}`;
}

function described({ mutant, text, verdict }: Judged): string {
  const name = nameOf(mutant, text);
  const place = placeOf({ mutant, text, verdict });
  const code = [`  before  ${name.before}`, `  after   ${name.after}`];
  if (verdict.outcome === 'timeout') return [`${place} timed out (${mutant.operator})`, ...code].join('\n');
  const left = verdict.tests - verdict.ran;
  const ran = `${verdict.ran} test files ran${left > 0 ? `, ${left} were left out` : ''}`;
  return [`${place} survived (${mutant.operator}; ${ran})`, ...code, `  reason  ${acceptedReason(name) ?? 'none given'}`].join(
    '\n',
  );
}
