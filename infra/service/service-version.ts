import { readFileSync } from 'node:fs';

const description = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string };

/** The version in package.json. */
export const serviceVersion = description.version;
