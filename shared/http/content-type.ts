import { extname } from 'node:path';

const contentTypes: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

/** Returns the content type of a file by the ending of its name. Default: application/octet-stream. */
export const contentTypeOf = (file: string): string => contentTypes[extname(file)] ?? 'application/octet-stream';
