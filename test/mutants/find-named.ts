import type { Mutant } from './mutant.ts';
import { namedMutants } from './named-mutants.ts';

export interface FoundMutants {
  found: Mutant[];
  /** Named mutants whose code is gone, or stands in the file more than once. */
  lost: string[];
}

export function findNamed(textOf: (file: string) => string | undefined): FoundMutants {
  const found: Mutant[] = [];
  const lost: string[] = [];
  for (const { file, code, becomes, fact } of namedMutants) {
    const text = textOf(file);
    const places = (text?.split(code).length ?? 1) - 1;
    const start = text?.indexOf(code) ?? 0;
    if (places === 1) found.push({ file, operator: `named: ${fact}`, start, end: start + code.length, replacement: becomes });
    else
      lost.push(
        `${file}: ${JSON.stringify(code)} ${text === undefined ? 'no such file' : `stands there ${places} times`}. ${fact}`,
      );
  }
  return { found, lost };
}
