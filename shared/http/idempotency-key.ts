import { createHash } from 'node:crypto';
import { invalid } from '../errors.ts';
import { bytesOf, type Received } from './received.ts';

/** The header, as the contract and the OpenAPI document write it. */
export const idempotencyKeyHeader = 'Idempotency-Key';
/** The header of an answer that was kept and is given again. */
export const replayedHeader = 'idempotent-replayed';

/**
 * Returns the request's Idempotency-Key; undefined without one, and for a GET, which takes none.
 * @throws ServiceError `invalid_request` if it is not 1 to 255 printable ASCII characters
 */
export function idempotencyKeyOf({ method, headers }: Received): string | undefined {
  const key = headers[idempotencyKeyHeader.toLowerCase()];
  if (key === undefined || method === 'GET') return undefined;
  if (!/^[\x20-\x7e]{1,255}$/.test(key)) {
    throw invalid(`header/${idempotencyKeyHeader}`, 'Expected 1 to 255 printable ASCII characters.');
  }
  return key;
}

/** Returns a digest that two requests share if they have the same path, query, body bytes and If-Match. */
export function digestOfRequest(received: Received): string {
  const { path, query, headers } = received;
  const parts = JSON.stringify([sorted(path), sorted(query), headers['if-match'] ?? null]);
  return createHash('sha256').update(parts).update('\n').update(bytesOf(received)).digest('base64url');
}

/** The order of query parameters means nothing, and API Gateway does not promise that of path parameters. */
function sorted(map: Record<string, string | undefined>): [string, string | undefined][] {
  return Object.keys(map)
    .sort()
    .map((name) => [name, map[name]]);
}
