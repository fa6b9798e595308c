import { readFileSync } from 'node:fs';
import { pageHeaders } from '../../shared/http/page-headers.ts';
import { listOfFiles, type BuiltFile } from './built-reference.ts';

/** A request for a file of the API reference. Names of its headers are in lower case. */
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

/** The files of the API reference by path, read once and kept for further calls of the same process. */
let known: Map<string, BuiltFile> | undefined;

/**
 * Answers requests for the API reference. Files are stored and sent compressed, also to clients that do not ask for compression:
 * anybody may load them, and uncompressed files cost four times as much.
 */
export async function handler({ rawPath, headers }: ReferenceRequest): Promise<ReferenceResponse> {
  known ??= new Map((JSON.parse(read(listOfFiles).toString()) as BuiltFile[]).map((file) => [file.path, file]));
  const ofPage = Object.fromEntries(pageHeaders());
  const file = known.get(rawPath);
  if (!file) return { statusCode: 404, headers: ofPage };
  const { etag, contentType: type, name } = file;
  const shared = { ...ofPage, etag, 'cache-control': 'public, no-cache' };
  if (headers['if-none-match'] === etag) return { statusCode: 304, headers: shared };
  return {
    statusCode: 200,
    headers: { ...shared, 'content-type': type, 'content-encoding': 'gzip' },
    body: read(name).toString('base64'),
    isBase64Encoded: true,
  };
}
