import type { ServerResponse, IncomingMessage } from 'node:http';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { contentTypeOf } from '../../shared/http/page-headers.ts';
import type { Cors } from '../../shared/http/cors.ts';
import { UsageError } from '../../shared/command-line/arguments.ts';

export interface ApiResponse {
  statusCode: number;
  headers: Record<string, string | string[]>;
  body: Buffer;
}

/** Builds a JSON response with a message that API Gateway gives without calling a function. */
export function apiGatewayMessage(statusCode: number, message: string, headers: Record<string, string> = {}): ApiResponse {
  return {
    statusCode,
    headers: { 'content-type': 'application/json', ...headers },
    body: Buffer.from(JSON.stringify({ message })),
  };
}

/** Builds a JSON response that no cache may keep. */
export function jsonAnswer(statusCode: number, body: object): ApiResponse {
  const headers = { 'content-type': 'application/json', 'cache-control': 'no-store' };
  return { statusCode, headers, body: Buffer.from(JSON.stringify(body)) };
}

/**
 * Turns a function's result into an HTTP response by the rules of payload format 2.0. Returns undefined if the result breaks the
 * rules.
 */
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

/**
 * Reads the whole body of a request. Returns undefined if the body is larger than `limitInBytes`; the excess is read and dropped.
 */
export function readBody(message: IncomingMessage, limitInBytes: number): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    let chunks: Buffer[] = [];
    let size = 0;
    message.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= limitInBytes) chunks.push(chunk);
      else chunks = [];
    });
    message.once('end', () => resolve(size <= limitInBytes ? Buffer.concat(chunks) : undefined));
    message.once('error', reject);
  });
}

/** Sends a file as an HTTP response with its content type. Headers that were set on the response before stay. */
export async function sendFile(response: ServerResponse, file: string, cacheControl: string, status = 200): Promise<void> {
  response.writeHead(status, { 'content-type': contentTypeOf(file), 'cache-control': cacheControl });
  try {
    await pipeline(createReadStream(file), response);
  } catch (error) {
    const hasLeft = error instanceof Error && 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE';
    if (!hasLeft) throw error; // a browser that goes elsewhere meanwhile is no failure
  }
}

/** Says whether web pages of an origin may call the API of this machine. */
export type AllowsOrigin = (origin: string) => boolean;

/**
 * Returns the headers that an HTTP API with CORS adds to the answer of a request: none if the request has no allowed origin. The
 * HTTP API also adds the headers to its own answers, and replaces the CORS headers of a function.
 */
export function corsHeaders(message: IncomingMessage, cors: Cors, allowsOrigin: AllowsOrigin): Record<string, string> {
  const { origin } = message.headers;
  if (origin === undefined || !allowsOrigin(origin)) return {};
  return { 'access-control-allow-origin': origin, 'access-control-expose-headers': cors.exposeHeaders.join(','), vary: 'origin' };
}

/** Returns the response of a function without its CORS headers, which an HTTP API with CORS replaces. */
export function withoutCorsHeaders({ headers, ...rest }: ApiResponse): ApiResponse {
  const kept = Object.entries(headers).filter(([name]) => !name.startsWith('access-control-'));
  return { headers: Object.fromEntries(kept), ...rest };
}

/**
 * Returns the answer of an HTTP API with CORS to an OPTIONS request, whatever its path. The HTTP API answers without an
 * authorizer or a function.
 */
export function preflightAnswer(message: IncomingMessage, cors: Cors, allowsOrigin: AllowsOrigin): ApiResponse {
  const { origin } = message.headers;
  const headers: Record<string, string> =
    origin !== undefined && allowsOrigin(origin)
      ? {
          'access-control-allow-methods': cors.methods.join(','),
          'access-control-allow-headers': cors.allowHeaders.join(','),
          'access-control-max-age': String(cors.maxAgeInSeconds),
        }
      : {};
  return { statusCode: 204, headers, body: Buffer.alloc(0) };
}

const ofThisMachine = /^https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/;

/**
 * Returns a function that allows web pages of this machine on any port, and of the given origins. A page also needs a token, and
 * only the command line gets a token without signing in at the issuer.
 */
export function allowedOrigins(more: readonly string[] = []): AllowsOrigin {
  return (origin) => ofThisMachine.test(origin) || more.includes(origin);
}

/**
 * Returns the origins of the option --cors-origin in the form that a browser sends. @throws UsageError for a text that is not an
 * origin
 */
export function parseOrigins(given: readonly string[]): string[] {
  return given.map((text) => {
    const { origin, href } = URL.parse(text) ?? {};
    if (origin !== undefined && /^https?:/.test(origin) && href === `${origin}/`) return origin;
    throw new UsageError(`--cors-origin is ${JSON.stringify(text)}; expected an origin such as https://app.example.com.`);
  });
}
