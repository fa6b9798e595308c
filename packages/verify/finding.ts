/** What a check found, in a sentence. A `note` is something that the evidence cannot show. */
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

/** Returns the first sentence if the fact is true, else the second. */
export function check(fact: boolean, sentence: string, otherwise: string): Finding {
  return fact ? holds(sentence) : fails(otherwise);
}
