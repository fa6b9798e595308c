import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { listOfFiles, type BuiltFile } from './built-reference.ts';
import { referenceHeaders } from './reference-headers.ts';

/** The part of a request of the HTTP API that is read. Names of headers are in lower case. */
interface ReferenceRequest {
  rawPath: string;
  headers: Record<string, string | undefined>;
}

interface ReferenceResponse {
  statusCode: number;
  headers: Record<string, string>;
  body?: string;
  isBase64Encoded?: boolean;
}

const read = (name: string) => readFileSync(new URL(name, import.meta.url));

/** Kept for further calls of the same process. */
let known: Map<string, BuiltFile> | undefined;

/** Serves the API reference of a stage: the files beside this one. API Gateway does not compress, so they are stored compressed. */
export async function handler({ rawPath, headers }: ReferenceRequest): Promise<ReferenceResponse> {
  known ??= new Map((JSON.parse(read(listOfFiles).toString()) as BuiltFile[]).map((file) => [file.path, file]));
  const file = known.get(rawPath);
  if (!file) return { statusCode: 404, headers: { ...referenceHeaders } };
  const { etag, contentType: type, name } = file;
  const shared = { ...referenceHeaders, etag, 'cache-control': 'public, no-cache', vary: 'accept-encoding' };
  if (headers['if-none-match'] === etag) return { statusCode: 304, headers: shared };
  const takesGzip = /\bgzip\b/.test(headers['accept-encoding'] ?? '');
  const content = read(name);
  return {
    statusCode: 200,
    headers: { ...shared, 'content-type': type, ...(takesGzip ? { 'content-encoding': 'gzip' } : {}) },
    body: (takesGzip ? content : gunzipSync(content)).toString('base64'),
    isBase64Encoded: true,
  };
}
