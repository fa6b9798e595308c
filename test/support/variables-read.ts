import { readFileSync } from 'node:fs';
import { environment } from '../../shared/runtime/environment.ts';

/** Returns the variables of the service that the code of a bundle reads. AWS_REGION is left out: every client of AWS reads it. */
export function variablesRead(file: string): string[] {
  const code = readFileSync(file, 'utf8');
  const isRead = (name: string) => new RegExp(`(\\.|[{,]\\s*)${name}\\b(?!:\\s*\\(\\)\\s*=>)`).test(code);
  return Object.keys(environment()).filter((name) => name !== 'AWS_REGION' && isRead(name));
}
