import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  type CompletedPart,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';

/** The engine accepts 11 MiB in one request, so larger uploads are sent to it in parts of this size. */
const partSizeInBytes = 8 * 1024 * 1024;

export interface ObjectPlace {
  bucket: string;
  key: string;
}

/** The body if it fits into one part, otherwise the ETag of the object that was stored. */
export type Received = { whole: Buffer } | { eTag: string };

/** Reads an upload. Stores it part by part if it is larger than one part, and leaves nothing behind if it breaks off. */
export async function receiveObject(client: S3Client, place: ObjectPlace, upload: AsyncIterable<Buffer>): Promise<Received> {
  const parts = partsOf(upload);
  const first = await parts.next();
  const whole = first.done ? Buffer.alloc(0) : first.value;
  if (whole.length < partSizeInBytes) return { whole };

  const target = { Bucket: place.bucket, Key: place.key };
  const { UploadId } = await client.send(new CreateMultipartUploadCommand(target));
  try {
    const Parts: CompletedPart[] = [];
    const store = async (Body: Buffer) => {
      const PartNumber = Parts.length + 1;
      const { ETag } = await client.send(new UploadPartCommand({ ...target, UploadId, PartNumber, Body }));
      Parts.push({ PartNumber, ...(ETag === undefined ? {} : { ETag }) });
    };
    await store(whole);
    for await (const part of parts) await store(part);
    const { ETag } = await client.send(new CompleteMultipartUploadCommand({ ...target, UploadId, MultipartUpload: { Parts } }));
    return { eTag: ETag ?? '' };
  } catch (error) {
    await client.send(new AbortMultipartUploadCommand({ ...target, UploadId }));
    throw error;
  }
}

/** Yields full parts, then the rest. @throws whatever the upload throws, such as when the client disconnects before the end */
async function* partsOf(upload: AsyncIterable<Buffer>): AsyncGenerator<Buffer, undefined> {
  let pending: Buffer[] = [];
  let size = 0;
  for await (const chunk of upload) {
    pending.push(chunk);
    size += chunk.length;
    if (size >= partSizeInBytes) {
      yield Buffer.concat(pending);
      pending = [];
      size = 0;
    }
  }
  if (size > 0) yield Buffer.concat(pending);
}
