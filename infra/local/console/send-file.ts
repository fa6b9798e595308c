import { createReadStream } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { extname } from 'node:path';
import { pipeline } from 'node:stream/promises';

const contentTypes: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

/** Sends a file with its content type. Headers that were set on the response before stay. */
export async function sendFile(response: ServerResponse, file: string, cacheControl: string, status = 200): Promise<void> {
  response.writeHead(status, {
    'content-type': contentTypes[extname(file)] ?? 'application/octet-stream',
    'cache-control': cacheControl,
  });
  try {
    await pipeline(createReadStream(file), response);
  } catch (error) {
    const hasLeft = error instanceof Error && 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE';
    if (!hasLeft) throw error; // a browser that goes elsewhere meanwhile is no failure
  }
}
