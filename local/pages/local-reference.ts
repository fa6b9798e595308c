import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { pageHeaders } from '../../shared/http/page-headers.ts';
import { contentTypeOf } from '../../shared/http/content-type.ts';
import { referenceFiles } from '../../functions/reference/reference-files.ts';
import { send } from '../http-api/http-response.ts';

/** Serves the API reference. Its page has a form that issues tokens. @returns whether the request was for one of its files */
export async function sendReference({ method, url = '' }: IncomingMessage, response: ServerResponse): Promise<boolean> {
  const [path = ''] = url.split('?');
  const { '/docs': page, ...files } = referenceFiles();
  const file = path === '/docs' ? page : path === '/favicon.ico' ? files['/docs/favicon.png'] : files[path];
  if ((method !== 'GET' && method !== 'HEAD') || file === undefined) return false;
  const body = await readFile(file);
  const headers = { ...Object.fromEntries(pageHeaders()), 'content-type': contentTypeOf(file), 'cache-control': 'no-cache' };
  send(response, { statusCode: 200, headers, body: file === page ? await withTokenForm(body) : body });
  return true;
}

async function withTokenForm(page: Buffer): Promise<Buffer> {
  const form = await readFile(join(import.meta.dirname, 'token-form.html'), 'utf8');
  return Buffer.from(page.toString().replace('<body>\n', (start) => start + form));
}
