import * as v from 'valibot';
import type { Caller } from '../access/caller.ts';
import { etagOf } from '../etag.ts';
import { computationSchema, rowOf, type Computation, type StoredComputation } from './computation.ts';
import type { Definition } from './definition.ts';
import { describeComputation } from './describe-computation.ts';
import { digestOfKey } from './kept-key.ts';

/**
 * Returns the entity tag of a computation as a caller sees it. It covers the configuration and the links themselves, not only the
 * version of the row: endpoint 3 can read the row after a change and the other items before it, and must not return the tag of
 * the changed computation with them.
 */
export function computationEtag(computation: Computation): string {
  const { server_key } = computation.agent_config;
  return etagWith(computation, server_key ? digestOfKey(server_key) : server_key);
}

/** @param key the digest of the private key, so that comparing tags does not open it. Empty: no key. Undefined: not shown */
function etagWith({ agent_config, ...computation }: Computation, key: string | undefined): string {
  return etagOf(v.parse(computationSchema, { ...computation, agent_config: { ...agent_config, server_key: key } }));
}

/** Returns the entity tag of the row alone (`peek=true`). It covers the version, so that it stands for everything unseen too. */
export function peekEtag(row: StoredComputation): string {
  return etagOf([rowOf(row), row.version]);
}

/** Returns the entity tags that endpoints 1, 3 and 4 give to the caller for this state. If-Match can name any of them. */
export function etagsFor(caller: Caller, row: StoredComputation, definition: Definition): string[] {
  const { server_key } = definition.agent_config;
  const digest = server_key === '' ? '' : server_key.digest;
  const described = describeComputation(row, definition, { caller, server_key: digest });
  return [etagWith(described, described.agent_config.server_key), peekEtag(row)];
}
