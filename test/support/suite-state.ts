import { hash } from 'node:crypto';
import { mkdirSync, mkdtempSync, openSync, readdirSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { gunzipSync, inflateRawSync, inflateSync } from 'node:zlib';

/** Part of every private key of an agent that the end-to-end suite sends. */
export const markOfPrivateKeys = 'PRIVATE-KEY-OF-AN-AGENT';

export function privateKey(name = 'first'): string {
  return `${markOfPrivateKeys} ${name}`;
}

/** The state of the services of a suite with their logs, and the bodies with private keys that it sent. */
export class SuiteState {
  readonly #services: string;
  readonly #sent: string;

  constructor(directory: string) {
    this.#services = join(directory, 'services');
    this.#sent = join(directory, 'sent');
  }

  prepare(): void {
    for (const part of [this.#services, this.#sent]) mkdirSync(part);
  }

  /** Makes the directory for the service of this process. The log of its functions is kept there, too. */
  openService(): string {
    const directory = mkdtempSync(join(this.#services, 'service-'));
    const log = openSync(join(directory, 'functions.log'), 'a');
    const print = process.stdout.write.bind(process.stdout) as (...given: unknown[]) => boolean;
    process.stdout.write = (chunk: string | Uint8Array, ...others: unknown[]) => {
      if (!String(chunk).startsWith('{')) return print(chunk, ...others); // not a line of the log
      return writeSync(log, String(chunk)) > 0;
    };
    return directory;
  }

  /** Keeps a body with a private key: the service may have deflated its answer with this body. */
  noteSent(body: string | Uint8Array): void {
    if (Buffer.from(body).includes(markOfPrivateKeys)) writeFileSync(join(this.#sent, hash('sha256', body)), body);
  }

  /** Returns the files that contain a private key in plain text, or compressed in a binary attribute of an item. */
  filesWithPrivateKeys(): string[] {
    const bodies = readdirSync(this.#sent).map((name) => readFileSync(join(this.#sent, name)));
    return filesIn(this.#services).filter((file) => {
      const items = file.endsWith('.sqlite') ? valuesOf(file).map((value) => Buffer.from(value)) : [];
      const binaries = items.flatMap((item) => binariesIn(item, bodies));
      const content = readUnlessGone(file);
      if (!content) return false;
      const contents = [content, ...items, ...binaries];
      return contents.some((content) => forms.some((form) => content.includes(form)));
    });
  }
}

const forms = formsOf(markOfPrivateKeys);

/** Returns the binary attributes of an item, which the engine keeps as JSON, and what they contain deflated. @param bodies those of kept answers */
function binariesIn(item: Buffer, bodies: readonly Buffer[]): Buffer[] {
  return [...item.toString().matchAll(/"(\w+)":\{"B":"([^"]+)"/g)].flatMap(([, name, base64 = '']) => {
    const bytes = Buffer.from(base64, 'base64');
    return [bytes, ...inflated(bytes, name === 'answer' ? bodies : [])];
  });
}

/**
 * Returns the files of a directory that contain a text, also compressed (holdsText). Of a SQLite file, each value is looked at as
 * well: in the file, its bytes may be in pieces.
 */
export function filesHolding(directory: string, text: string, dictionaries: readonly Uint8Array[] = []): string[] {
  return filesIn(directory).filter((file) => {
    const content = readUnlessGone(file);
    if (!content) return false;
    const contents = [content, ...(file.endsWith('.sqlite') ? valuesOf(file) : [])];
    const seen = new Set<string>();
    return contents.some((content) => holdsText(content, text, dictionaries, { seen }));
  });
}

/** Returns the content of a file. Undefined if a running service has replaced the file since it was listed. */
function readUnlessGone(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function filesIn(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

/** Returns the texts and bytes in a SQLite file. */
function valuesOf(file: string): Uint8Array[] {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const tables = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all();
    const rows = tables.flatMap(({ name }) => database.prepare(`SELECT * FROM "${String(name)}"`).all());
    return rows.flatMap(Object.values).flatMap((value: unknown) => {
      if (value instanceof Uint8Array) return [value];
      return typeof value === 'string' ? [Buffer.from(value)] : [];
    });
  } finally {
    database.close();
  }
}

/** Compressed text in base64, in compressed text, and so on. */
const deepest = 3;

/** Matches a run of base64, also in the form for URLs. */
const base64Run = /[\w+/-]{12,}={0,2}/g;

/**
 * Says whether bytes contain a text: as it is or in base64, wherever in a longer text it stands, or in what they contain deflated or
 * gzipped. Compressed bytes are found if they are all of `bytes`, or stand in base64.
 * @param dictionaries with which JSON may be deflated
 * @param options.seen the runs of base64 that were looked into: the values of a table repeat most of its file
 */
export function holdsText(
  bytes: Uint8Array,
  text: string,
  dictionaries: readonly Uint8Array[] = [],
  { depth = 0, seen = new Set<string>() } = {},
): boolean {
  const content = Buffer.from(bytes);
  if (formsOf(text).some((form) => content.includes(form))) return true;
  if (depth === deepest) return false;
  const runs = [...new Set(content.toString('latin1').match(base64Run))].filter((run) => !seen.has(run));
  for (const run of runs) seen.add(run);
  const inside = [content, ...runs.map((run) => Buffer.from(run, 'base64'))];
  return inside
    .flatMap((compressed) => inflated(compressed, dictionaries))
    .some((each) => holdsText(each, text, dictionaries, { depth: depth + 1 }));
}

/** Returns a text and what its base64 contains, wherever in a longer text it stands. */
function formsOf(text: string): string[] {
  const encoded = [0, 1, 2].map((shift) =>
    Buffer.concat([Buffer.alloc(shift), Buffer.from(text)])
      .toString('base64')
      .slice(4, -4),
  );
  return [text, ...encoded];
}

/** Returns what bytes contain if they are compressed, in each way in which they can be read. */
function inflated(bytes: Buffer, dictionaries: readonly Uint8Array[]): Buffer[] {
  const inflates = isZlib(bytes) ? [inflateRawSync, inflateSync] : [inflateRawSync];
  const plain = (isGzip(bytes) ? [gunzipSync, ...inflates] : inflates).flatMap((inflate) => unlessItFails(() => inflate(bytes)));
  const byDictionary = dictionaries.flatMap((dictionary) =>
    inflates.flatMap((inflate) => unlessItFails(() => inflate(bytes, { dictionary }))),
  );
  // Bytes that mean something else may happen to copy a piece of a dictionary.
  return [...plain, ...byDictionary.filter(isJson)];
}

/** Says whether bytes begin as RFC 1952 says. */
function isGzip(bytes: Buffer): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

/** Says whether bytes begin as RFC 1950 says: with the method deflate, and a checksum of the first two bytes. */
function isZlib(bytes: Buffer): boolean {
  return bytes.length > 1 && ((bytes[0] ?? 0) & 0x0f) === 8 && bytes.readUInt16BE(0) % 31 === 0;
}

function unlessItFails(inflate: () => Buffer): Buffer[] {
  try {
    return [inflate()];
  } catch {
    return []; // not compressed in this way
  }
}

function isJson(bytes: Buffer): boolean {
  try {
    JSON.parse(bytes.toString());
    return true;
  } catch {
    return false;
  }
}
