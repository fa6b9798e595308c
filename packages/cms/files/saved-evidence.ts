import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { fetchToken, type Schemas } from 'computation-management-client';
import { hashOfBytes } from 'computation-management-formats/digests';
import * as v from 'valibot';
import { CmsError, codeOf, UsageError } from '../terminal/cms-error.ts';
import { writeWhole } from './write-whole.ts';

/** The names of the files in which `cms evidence` saves the evidence of a run. `result` is there once its review has ended. */
export const evidenceFiles = { evidence: 'evidence.json', keys: 'keys.json', events: 'events.json', result: 'result.json' };

type Contents = Record<keyof typeof evidenceFiles, unknown>;

const saved = v.object({ statement: v.object({ run: v.object({ id: v.string() }) }) });
const savedKeys = v.looseObject({ keys: v.array(v.looseObject({ kid: v.optional(v.string()) })) });
const eventList = v.array(v.looseObject({ id: v.string() }));
const savedEvents = v.union([
  v.object({ events: eventList }),
  v.pipe(
    eventList,
    v.transform((events) => ({ events })),
  ),
]);

/**
 * Returns the identifier of the run whose evidence is saved in a directory. Undefined if there is none, and an empty text if it cannot be
 * read.
 */
export async function savedRun(directory: string): Promise<string | undefined> {
  const content = await readSaved(directory, 'evidence');
  if (content === undefined) return undefined;
  const read = v.safeParse(saved, content);
  return read.success ? read.output.statement.run.id : '';
}

/**
 * Saves the evidence of a run beside what is saved of the same run. What was saved before is what the service cannot change any more: it is
 * kept, and only new keys and events are added.
 * @throws CmsError if the service now gives another statement, another key of the same name, or not all events that were saved
 */
export async function saveEvidence(directory: string, { evidence, keys, events, result }: Contents): Promise<void> {
  for (const [name, statement] of Object.entries({ evidence, result })) {
    const before = await readSaved(directory, name as 'evidence' | 'result');
    if (before === undefined || isDeepStrictEqual(before, statement)) continue;
    const file = join(directory, evidenceFiles[name as 'evidence' | 'result']);
    throw unlike(directory, `another statement about this run than the one in ${file}`);
  }
  await expectSavedEvents(directory, events);
  const contents: Contents = { evidence, keys: await withSavedKeys(directory, keys), events, result };
  await mkdir(directory, { recursive: true }).catch((error: unknown) => {
    const isOther = ['EEXIST', 'ENOTDIR'].includes(codeOf(error));
    throw isOther ? new UsageError(`${directory} is not a directory.`, undefined, error) : error;
  });
  for (const [name, file] of Object.entries(evidenceFiles)) {
    const content = contents[name as keyof typeof evidenceFiles];
    if (content === undefined) continue;
    await writeWhole(join(directory, file), (part) => writeFile(part, `${JSON.stringify(content, null, 2)}\n`));
  }
}

/** The ending of the names of files with attestation tokens. */
export const tokenEnding = '.token';

type Token = Pick<Schemas['AttestationToken'], 'hash' | 'download'>;

/**
 * Returns the name of the file in which an attestation token is saved.
 * @throws CmsError if the service names the token by something other than its SHA-256
 */
export function tokenFile({ hash }: Pick<Token, 'hash'>): string {
  if (/^[0-9a-f]{64}$/.test(hash)) return `${hash}${tokenEnding}`;
  throw new CmsError('The service names an attestation token by something other than its SHA-256.');
}

/**
 * Fetches an attestation token from the storage of the service and saves it.
 * @throws CmsError if the SHA-256 of the token is not the one that names it
 */
export async function saveToken(directory: string, token: Token): Promise<void> {
  const file = tokenFile(token);
  const content = await fetchToken(token);
  const isRight = hashOfBytes(content) === token.hash;
  if (!isRight) throw unlike(directory, `another attestation token than the one that it names: ${token.hash}`);
  await writeWhole(join(directory, file), (part) => writeFile(part, content));
}

/**
 * Returns the saved public keys of the service with the keys that the service has published since.
 * @throws CmsError if a key differs from the saved one
 */
async function withSavedKeys(directory: string, keys: unknown): Promise<unknown> {
  const content = await readSaved(directory, 'keys');
  if (content === undefined) return keys;
  const path = join(directory, evidenceFiles.keys);
  const before = v.safeParse(savedKeys, content);
  if (!before.success) throw unreadable(path, 'public keys');
  const added = v.parse(savedKeys, keys).keys.filter((key) => {
    const known = before.output.keys.find(({ kid }) => kid === key.kid);
    if (known && !isDeepStrictEqual(known, key)) throw unlike(directory, `another key ${key.kid ?? ''} than the one in ${path}`);
    return !known;
  });
  return { ...before.output, keys: [...before.output.keys, ...added] };
}

/** Checks that the service gives every saved event as it was saved. @throws CmsError if an event differs or is missing */
async function expectSavedEvents(directory: string, events: unknown): Promise<void> {
  const content = await readSaved(directory, 'events');
  if (content === undefined) return;
  const path = join(directory, evidenceFiles.events);
  const before = v.safeParse(savedEvents, content);
  if (!before.success) throw unreadable(path, 'events');
  const now = new Map(v.parse(savedEvents, events).events.map((event) => [event.id, event]));
  for (const event of before.output.events) {
    const found = now.get(event.id);
    if (!found) throw unlike(directory, `no event ${event.id}, which is in ${path}`);
    if (!isDeepStrictEqual(found, event)) throw unlike(directory, `another event ${event.id} than the one in ${path}`);
  }
}

const unreadable = (path: string, what: string) => new UsageError(`${path} has no ${what} that can be read.`);

const unlike = (directory: string, what: string) =>
  new CmsError(`The service now gives ${what}. Nothing was replaced in ${directory}.`);

/** Reads a file of saved evidence as JSON. Returns undefined if the file cannot be opened, and null if it is no JSON. */
async function readSaved(directory: string, name: keyof typeof evidenceFiles): Promise<unknown> {
  const text = await readFile(join(directory, evidenceFiles[name]), 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text.replace(/^\ufeff/, '')) as unknown;
  } catch {
    return null;
  }
}
