import { readFileSync } from 'node:fs';

/** Reads the version from package.json. */
export function serviceVersion(): string {
  const description = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string };
  return description.version;
}
