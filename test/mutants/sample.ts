import { hash } from './hash.ts';
import { applyTo, nameOf, type Mutant } from './mutant.ts';

/**
 * Up to `size` mutants that compile, the same ones for the same seed. They are ordered by a hash of the lines that they change, so
 * that a change of other lines leaves them in the sample.
 */
export function sampleOf(
  mutants: Mutant[],
  { seed, size }: { seed: string; size: number },
  textOf: (file: string) => string,
  compiles: (file: string, text: string) => boolean,
): Mutant[] {
  const counts = new Map<string, number>();
  const ranked = mutants.map((mutant) => {
    const name = JSON.stringify(nameOf(mutant, textOf(mutant.file)));
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    return { mutant, rank: hash(`${seed}\n${name}\n${count}`) };
  });
  const sample: Mutant[] = [];
  for (const { mutant } of ranked.sort((a, b) => (a.rank < b.rank ? -1 : 1))) {
    if (sample.length === size) break;
    if (compiles(mutant.file, applyTo(textOf(mutant.file), mutant))) sample.push(mutant);
  }
  return sample;
}
