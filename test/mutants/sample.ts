import { hash } from './hash.ts';
import { applyTo, type Mutant } from './mutant.ts';

/**
 * Up to `size` mutants that compile, the same ones for the same seed. The order is by hash, so that a change of one file
 * leaves most of the others' mutants in the sample.
 */
export function sampleOf(
  mutants: Mutant[],
  { seed, size }: { seed: string; size: number },
  textOf: (file: string) => string,
  compiles: (file: string, text: string) => boolean,
): Mutant[] {
  const ranked = mutants.map((mutant) => ({ mutant, rank: hash(`${seed}\n${hash(applyTo(textOf(mutant.file), mutant))}`) }));
  const sample: Mutant[] = [];
  for (const { mutant } of ranked.sort((a, b) => (a.rank < b.rank ? -1 : 1))) {
    if (sample.length === size) break;
    if (compiles(mutant.file, applyTo(textOf(mutant.file), mutant))) sample.push(mutant);
  }
  return sample;
}
