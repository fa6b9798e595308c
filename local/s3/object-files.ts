import { mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, statSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import type { BuildAppOptions } from 'fauxqs';
import * as v from 'valibot';
import { type BrokenFile, BrokenFilesError } from '../data/broken-files-error.ts';
import { readKeptJson } from '../data/read-kept-json.ts';
import { unfinished, writeKeptFile } from '../data/write-kept-file.ts';
import { partsOfKey } from './parts-of-key.ts';

export type S3Store = NonNullable<NonNullable<BuildAppOptions['stores']>['s3Store']>;
type Persistence = NonNullable<S3Store['persistence']>;
type StoredObject = Parameters<Persistence['upsertObject']>[1];

const metaEnding = '.meta.json';

const bucketFile = v.object({ creationDate: v.pipe(v.string(), v.isoTimestamp()) });
const metaFile = v.looseObject({
  key: v.string(),
  contentType: v.string(),
  contentLength: v.number(),
  etag: v.string(),
  lastModified: v.pipe(v.string(), v.isoTimestamp()),
  metadata: v.record(v.string(), v.string()),
});

/**
 * Keeps the engine's objects in files, in the layout of its own persistence. That one writes in place, so it leaves half a file
 * on a full disk. Here a file is complete or absent, and an object's metadata is written after its content and removed before
 * it. Multipart uploads stay in memory, because their sender ends with the process.
 */
export class ObjectFiles implements Persistence {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /**
   * Loads the kept objects into the store, and removes the unfinished files of a crash.
   * @throws BrokenFilesError with every broken file
   */
  loadS3(store: S3Store): void {
    rmSync(join(this.#directory, '_multipart'), { recursive: true, force: true });
    const buckets = join(this.#directory, 'buckets');
    mkdirSync(buckets, { recursive: true });
    const broken: BrokenFile[] = [];
    for (const bucket of readdirSync(buckets)) {
      store.createBucket(bucket, 'general-purpose');
      const kept = readKeptJson(this.#bucketFile(bucket), bucketFile);
      if (kept && 'content' in kept) store.setBucketCreationDate(bucket, new Date(kept.content.creationDate));
      else this.insertBucket(bucket, new Date()); // holds nothing that the directory does not show
      for (const file of filesUnder(this.#objects(bucket))) {
        if (file.endsWith(unfinished)) rmSync(file);
        else if (file.endsWith(metaEnding)) {
          const object = objectIn(file);
          if ('problem' in object) broken.push(object);
          else store.restoreObject(bucket, object);
        }
      }
    }
    if (broken.length > 0) throw new BrokenFilesError(broken);
  }

  insertBucket(name: string, creationDate: Date, type = 'general-purpose'): void {
    writeKeptFile(this.#bucketFile(name), JSON.stringify({ name, creationDate: creationDate.toISOString(), type }));
  }

  /** Also prints the error for the user. @throws Error with the file and why it cannot be written */
  upsertObject(bucket: string, { body, ...meta }: StoredObject): void {
    const file = this.#object(bucket, meta.key);
    try {
      writeKeptFile(`${file}.data`, body);
      writeKeptFile(file + metaEnding, JSON.stringify(meta));
    } catch (error) {
      process.stderr.write(`${String(error)}\n`);
      throw error;
    }
  }

  readBody(bucket: string, key: string): Buffer {
    return readFileSync(`${this.#object(bucket, key)}.data`);
  }

  deleteObject(bucket: string, key: string): void {
    const file = this.#object(bucket, key);
    rmSync(file + metaEnding, { force: true });
    rmSync(`${file}.data`, { force: true });
    removeEmptyParents(dirname(file), this.#objects(bucket));
  }

  completeMultipartUpload(_uploadId: string, bucket: string, object: StoredObject): void {
    this.upsertObject(bucket, object);
  }

  insertMultipartUpload(): void {}
  upsertMultipartPart(): void {}
  deleteMultipartUpload(): void {}
  deleteAllMultipartUploads(): void {}
  close(): void {}

  deleteBucket(): void {
    throw new UnusedError();
  }
  saveBucketLifecycleConfiguration(): void {
    throw new UnusedError();
  }
  deleteBucketLifecycleConfiguration(): void {
    throw new UnusedError();
  }
  deleteObjectsByBucket(): void {
    throw new UnusedError();
  }
  deleteAllObjects(): void {
    throw new UnusedError();
  }
  renameObject(): void {
    throw new UnusedError();
  }
  purgeAll(): void {
    throw new UnusedError();
  }

  #bucketFile(bucket: string): string {
    return join(this.#directory, 'buckets', bucket, '.bucket.json');
  }

  #objects(bucket: string): string {
    return join(this.#directory, 'buckets', bucket, 'objects');
  }

  /** The path of an object's two files, without their endings. @throws S3Error 400 if the key could lead out of it */
  #object(bucket: string, key: string): string {
    const path = key.replace(/[<>:"|?*\\%\x00-\x1f]/g, (sign) => `%${sign.charCodeAt(0).toString(16).padStart(2, '0')}`);
    return join(this.#objects(bucket), ...partsOfKey(path));
  }
}

/** The service never uses the operation. */
class UnusedError extends Error {
  override readonly name = 'UnusedError';
  override readonly message = 'Object storage on one machine does not support this.';
}

/** Reads the object that a metadata file describes. Leaves its content on the disk. */
function objectIn(file: string): StoredObject | BrokenFile {
  const withoutIt = 'Without it, the content of one asset is lost.';
  const kept = readKeptJson(file, metaFile);
  if (kept === undefined) return { file, problem: 'it has disappeared', withoutIt };
  if ('problem' in kept) return { file, problem: kept.problem, withoutIt };
  const { lastModified, ...meta } = kept.content;
  const content = `${file.slice(0, -metaEnding.length)}.data`;
  const size = statSync(content, { throwIfNoEntry: false })?.size;
  if (size !== meta.contentLength) {
    const problem =
      size === undefined
        ? `it describes ${relative(dirname(file), content)}, which is missing`
        : `it describes ${relative(dirname(file), content)} with ${meta.contentLength} bytes, but that file has ${size}`;
    return { file, problem, withoutIt };
  }
  return { ...meta, body: Buffer.alloc(0), lastModified: new Date(lastModified) };
}

function filesUnder(directory: string): string[] {
  mkdirSync(directory, { recursive: true });
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

function removeEmptyParents(directory: string, root: string): void {
  for (let current = directory; current.startsWith(root + sep); current = dirname(current)) {
    try {
      rmdirSync(current);
    } catch {
      return; // the directory is not empty
    }
  }
}
