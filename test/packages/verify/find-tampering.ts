import { checkEvidence } from './check-by-test-roots.ts';
import { UnreadableError } from '../../../packages/verify/evidence-files.ts';
import type { Tampering } from './tamperings.ts';

/**
 * Returns what the verifier says against the evidence. A note, or what it did not check, counts if it names what was added, or what is
 * missing, and is not said of the genuine files.
 */
export async function objectionsTo({ files, genuine, named }: Tampering): Promise<string[]> {
  const saidAnyway = (await checkEvidence(genuine)).map(({ sentence }) => sentence);
  const isObjection = (sentence: string) =>
    /does not cover|are missing/.test(sentence) && named.test(sentence) && !saidAnyway.includes(sentence);
  try {
    return (await checkEvidence(files)).flatMap(({ verdict, sentence }) =>
      verdict === 'does not hold' || (verdict !== 'holds' && isObjection(sentence)) ? [sentence] : [],
    );
  } catch (error) {
    if (error instanceof UnreadableError) return [error.message];
    throw error;
  }
}

/** Returns whether the verifier objects, and names what was tampered with. */
export async function isFoundAndNamed(tampering: Tampering): Promise<boolean> {
  return (await objectionsTo(tampering)).some((sentence) => tampering.named.test(sentence));
}
