import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import * as v from 'valibot';
import {
  BrokenFilesError,
  type BrokenFile,
  cannotWrite,
  createKeptFile,
  makeKeptDirectory,
  readKeptJson,
  writeKeptFile,
} from '../machine/data-directory.ts';

/** A refusal of a request to object storage, with the status and code of S3. */
export class S3Error extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

const metadata = v.object({
  key: v.string(),
  /** The name of the file with the object's content. */
  content: v.string(),
  size: v.number(),
  /** The `content-encoding` with which the object was sent. */
  encoding: v.optional(v.string()),
  etag: v.string(),
  last_modified: v.pipe(v.string(), v.isoTimestamp()),
});

type Metadata = v.InferOutput<typeof metadata>;
export type StoredObject = Omit<Metadata, 'content'>;

interface Kept extends Metadata {
  /** The content of the object, if the store is in memory. */
  bytes?: Buffer;
}

const metaEnding = '.json';

/**
 * A store of objects in memory, or in a directory. In a directory, an object has two files: the content under a name of its own,
 * and the metadata, which name the key and the content, and are replaced after the content is complete. A crash leaves at most
 * content that no metadata name.
 */
export class ObjectStore {
  readonly #directory: string | undefined;
  readonly #objects = new Map<string, Kept>();
  /** The keys of new objects whose content is being received. */
  readonly #awaited = new Set<string>();

  /**
   * Finds the objects in the directory, and removes unfinished files that a crash left.
   * @param withoutIt the sentence for the user that says what is lost with an object
   * @throws BrokenFilesError with every broken file
   */
  constructor(directory: string | undefined, withoutIt: string) {
    this.#directory = directory;
    if (directory === undefined) return;
    makeKeptDirectory(directory);
    const files = readdirSync(directory);
    const found = files.filter((file) => file.endsWith(metaEnding)).map((file) => readMetadata(directory, file, withoutIt));
    const broken = found.filter((each) => 'problem' in each);
    if (broken.length > 0) throw new BrokenFilesError(broken);
    for (const object of found) if ('key' in object) this.#objects.set(object.key, object);
    const named = new Set([...this.#objects.values()].flatMap(({ key, content }) => [nameOf(key), content]));
    for (const file of files) if (!named.has(file)) rmSync(join(directory, file));
  }

  find(key: string): StoredObject | undefined {
    return this.#objects.get(key);
  }

  /** Returns the objects whose keys have a prefix and come after another key, in the order of their keys. */
  list({ prefix, after, limit }: { prefix: string; after: string; limit: number }): StoredObject[] {
    const keys = [...this.#objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort();
    return keys.slice(0, limit).flatMap((key) => this.#objects.get(key) ?? []);
  }

  /** Returns the content of an object from one byte to another, both included. */
  read(key: string, range: { start: number; end: number }): Readable {
    const { bytes, content = '' } = this.#objects.get(key) ?? {};
    if (range.end < range.start) return Readable.from([]);
    return bytes ? Readable.from([bytes.subarray(range.start, range.end + 1)]) : createReadStream(this.#file(content), range);
  }

  /**
   * Stores an object once its body is complete. Leaves nothing of a body that breaks off.
   * @param options.mustMatch the ETag that the object must have until its body is complete
   * @throws S3Error 412 if the object must be new and exists, or has another ETag, 409 if it must be new and is being received;
   *   whatever the body throws
   */
  async put(
    key: string,
    body: AsyncIterable<Buffer>,
    { mustBeNew, mustMatch, encoding }: { mustBeNew: boolean; mustMatch?: string | undefined; encoding?: string | undefined },
  ): Promise<StoredObject> {
    if (mustBeNew) this.#await(key);
    const hash = createHash('md5');
    let size = 0;
    const measured = async function* () {
      for await (const chunk of body) {
        hash.update(chunk);
        size += chunk.length;
        yield chunk;
      }
    };
    const content = `${randomUUID()}.data`;
    try {
      const bytes = await this.#receive(content, measured());
      const etag = `"${hash.digest('hex')}"`;
      const given = encoding === undefined ? {} : { encoding };
      const object = { key, content, size, ...given, etag, last_modified: new Date().toISOString() };
      const before = this.#objects.get(key);
      if (mustMatch !== undefined && before?.etag !== mustMatch) throw preconditionFailed();
      if (!bytes) writeKeptFile(this.#file(nameOf(key)), JSON.stringify(object));
      this.#objects.set(key, { ...object, ...(bytes ? { bytes } : {}) });
      if (before) this.#remove(before.content);
      return object;
    } catch (error) {
      this.#remove(content);
      throw error;
    } finally {
      if (mustBeNew) this.#awaited.delete(key);
    }
  }

  delete(key: string): void {
    const object = this.#objects.get(key);
    if (!object) return;
    this.#remove(nameOf(key));
    this.#objects.delete(key);
    this.#remove(object.content);
  }

  #await(key: string): void {
    if (this.#objects.has(key)) throw preconditionFailed();
    if (this.#awaited.has(key)) {
      throw new S3Error(409, 'ConditionalRequestConflict', 'A conflicting conditional operation is currently in progress.');
    }
    this.#awaited.add(key);
  }

  /**
   * Receives the content of an object. Returns the content if the store is in memory; otherwise writes a file with the name and
   * returns undefined.
   */
  async #receive(name: string, body: AsyncIterable<Buffer>): Promise<Buffer | undefined> {
    if (this.#directory === undefined) return await buffer(body);
    const path = this.#file(name);
    const fail = (error: unknown) => {
      throw cannotWrite(path, error);
    };
    const file = await createKeptFile(path).catch(fail);
    try {
      for await (const chunk of body) await file.writeFile(chunk).catch(fail);
      await file.sync().catch(fail);
    } finally {
      await file.close();
    }
    return undefined;
  }

  #remove(name: string): void {
    if (this.#directory !== undefined) rmSync(this.#file(name), { force: true });
  }

  #file(name: string): string {
    return join(this.#directory ?? '', name);
  }
}

function preconditionFailed(): S3Error {
  return new S3Error(412, 'PreconditionFailed', 'At least one of the pre-conditions you specified did not hold');
}

/** Returns the name of the file with an object's metadata: a hash of the key, so that no key leads out of the directory. */
function nameOf(key: string): string {
  return createHash('sha256').update(key).digest('hex') + metaEnding;
}

function readMetadata(directory: string, name: string, withoutIt: string): Metadata | BrokenFile {
  const file = join(directory, name);
  const kept = readKeptJson(file, metadata);
  if (kept === undefined) return { file, problem: 'it has disappeared', withoutIt };
  if ('problem' in kept) return { file, problem: kept.problem, withoutIt };
  const { content, size: expected } = kept.content;
  const size = statSync(join(directory, content), { throwIfNoEntry: false })?.size;
  if (size === expected) return kept.content;
  const problem =
    size === undefined
      ? `it describes ${content}, which is missing`
      : `it describes ${content} with ${expected} bytes, but that file has ${size}`;
  return { file, problem, withoutIt };
}
