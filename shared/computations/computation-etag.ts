import * as v from 'valibot';
import type { Caller } from '../access/caller.ts';
import { etagOf } from '../etag.ts';
import { computationSchema, rowOf, type StoredComputation } from './computation.ts';
import type { Definition } from './definition.ts';
import { describeComputation } from './describe-computation.ts';

/**
 * Returns the entity tag of a computation as the caller sees it. It covers the configuration and the links themselves, not only the
 * version of the row: endpoint 3 can read the row after a change and the other items before it, and must not return the tag of
 * the changed computation with them. The digest of the private key stands for the key, so that no tag takes opening it.
 */
export function computationEtag(caller: Caller, row: StoredComputation, definition: Definition): string {
  const { server_key } = definition.agent_config;
  const digest = server_key === '' ? '' : server_key.digest;
  return etagOf(v.parse(computationSchema, describeComputation(row, definition, { caller, server_key: digest })));
}

/** Returns the entity tag of the row alone (`peek=true`). It covers the version, so that it stands for everything unseen too. */
export function peekEtag(row: StoredComputation): string {
  return etagOf([rowOf(row), row.version]);
}

/** Returns the entity tags that endpoints 1, 3 and 4 give to the caller for this state. If-Match can name any of them. */
export function etagsFor(caller: Caller, row: StoredComputation, definition: Definition): string[] {
  return [computationEtag(caller, row, definition), peekEtag(row)];
}
