import type { HttpResponse } from './problem.ts';

/** Leaves out the body of the answer to HEAD. Its status and headers are those of the answer to GET (RFC 9110, section 9.3.2). */
export function withoutBodyOfHead(response: HttpResponse, method: string): HttpResponse {
  return method === 'HEAD' ? { ...response, body: '' } : response;
}
