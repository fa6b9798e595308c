import { createReadStream } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { contentTypeOf } from '../../shared/http/content-type.ts';

/** Sends a file with its content type. Headers that were set on the response before stay. */
export async function sendFile(response: ServerResponse, file: string, cacheControl: string, status = 200): Promise<void> {
  response.writeHead(status, {
    'content-type': contentTypeOf(file),
    'cache-control': cacheControl,
  });
  try {
    await pipeline(createReadStream(file), response);
  } catch (error) {
    const hasLeft = error instanceof Error && 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE';
    if (!hasLeft) throw error; // a browser that goes elsewhere meanwhile is no failure
  }
}
