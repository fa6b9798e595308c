import type { ServerResponse } from 'node:http';

export interface ApiResponse {
  statusCode: number;
  headers: Record<string, string | string[]>;
  body: Buffer;
}

/** Builds a response that API Gateway gives without calling a function. */
export function apiGatewayMessage(statusCode: number, message: string, headers: Record<string, string> = {}): ApiResponse {
  return {
    statusCode,
    headers: { 'content-type': 'application/json', ...headers },
    body: Buffer.from(JSON.stringify({ message })),
  };
}

/** Turns a function's result into a response by the rules of payload format 2.0. Undefined if it breaks them. */
export function functionResponse(result: unknown): ApiResponse | undefined {
  if (typeof result !== 'object' || result === null || !('statusCode' in result)) {
    const body = Buffer.from(typeof result === 'string' ? result : JSON.stringify(result ?? null));
    return { statusCode: 200, headers: { 'content-type': 'application/json' }, body };
  }
  const { statusCode, headers, cookies, body, isBase64Encoded } = result as Record<string, unknown>;
  const status = Number(statusCode);
  if (!Number.isInteger(status) || status < 200 || status > 599) return undefined;
  if (body !== undefined && body !== null && typeof body !== 'string') return undefined;
  const content = Buffer.from(body ?? '', isBase64Encoded === true ? 'base64' : 'utf8');
  return {
    statusCode: status,
    headers: {
      ...(content.length === 0 ? {} : { 'content-type': 'text/plain; charset=utf-8' }),
      ...Object.fromEntries(Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), String(value)])),
      ...(Array.isArray(cookies) && cookies.length > 0 ? { 'set-cookie': cookies.map(String) } : {}),
    },
    body: content,
  };
}

export function send(response: ServerResponse, { statusCode, headers, body }: ApiResponse): void {
  const isOfHead = response.req.method === 'HEAD' && body.length === 0; // the length of the answer to GET is not known
  const hasLength = statusCode !== 204 && statusCode !== 304 && !isOfHead;
  response.writeHead(statusCode, { ...headers, ...(hasLength ? { 'content-length': body.length } : {}) });
  response.end(hasLength ? body : undefined);
}
