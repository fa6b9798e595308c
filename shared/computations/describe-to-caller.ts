import type { Caller } from '../access/caller.ts';
import type { Kms } from '../kms.ts';
import type { Table } from '../table/table.ts';
import { computationEtag, peekEtag } from './computation-etag.ts';
import { rowOf, type Computation } from './computation.ts';
import { describeComputation, mayReadServerKey, readToDescribe } from './describe-computation.ts';
import { readComputation } from './find-computation.ts';
import { openKey } from './sealed-key.ts';

interface Request {
  domain: string;
  id: string;
  caller: Caller;
  /** Only the fields that a list entry has. */
  isPeek: boolean;
  /** Returns whether the caller has the answer with this ETag. */
  isKnown?: ((etag: string) => boolean) | undefined;
}

interface Described {
  etag: string;
  /** Undefined if the caller has it. */
  computation?: Computation | ReturnType<typeof rowOf>;
}

/**
 * Reads a computation as the caller may see it. One round trip, and a call of KMS if the answer includes a private key.
 * @throws ServiceError `not_found`
 */
export async function describeToCaller(table: Table, kms: Kms, request: Request): Promise<Described> {
  const { domain, id, caller, isPeek, isKnown } = request;
  if (isPeek) {
    const row = await readComputation(table, domain, id);
    const etag = peekEtag(row);
    return isKnown?.(etag) ? { etag } : { etag, computation: rowOf(row) };
  }
  const { row, definition } = await readToDescribe(table, domain, id);
  const etag = computationEtag(caller, row, definition);
  if (isKnown?.(etag)) return { etag };
  const stored = mayReadServerKey(row, caller) ? definition.agent_config.server_key : '';
  const server_key = await openKey(kms, row.id, stored);
  return { etag, computation: describeComputation(row, definition, { caller, server_key }) };
}
