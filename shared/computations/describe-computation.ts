import * as v from 'valibot';
import type { Caller } from '../http/caller.ts';
import { etagOf } from '../http/etags.ts';
import { invalid } from '../runtime/errors.ts';
import { computationKeys, listKeys, lists } from '../table/keys.ts';
import { type Item, type Table, getItem, getItems } from '../table/table.ts';
import { withoutServerKey } from '../rows/agent-config.ts';
import { openKey } from '../rows/sealed-key.ts';
import type { Kms } from '../runtime/clients.ts';
import {
  type Computation,
  computationSchema,
  rowOf,
  type StoredComputation,
  type ComputationRow,
  storedComputation,
  computationKey,
  findComputation,
  readComputation,
} from '../rows/computation.ts';
import type { ComputationStatus } from 'computation-management-formats/vocabulary';
import { partiesOf, type Definition, parseDefinition, readDefinition } from '../rows/definition.ts';
import { openList, rowLists } from '../table/row-lists.ts';
import { readPage } from '../table/read-page.ts';
import { parseStored } from '../table/stored.ts';

/**
 * Tells whether a caller may read the `server_key` of a computation: only the owner and users with the action `edit` may
 * (docs/contract.md, section 2).
 */
function mayReadServerKey({ owner }: StoredComputation, caller: Caller): boolean {
  return caller.actions.has('edit') || caller.id === owner;
}

/**
 * Returns a computation in the form that the API shows to a caller.
 * @param server_key in plain text, shown if the caller may read it
 */
export function describeComputation(
  row: StoredComputation,
  definition: Definition,
  { caller, server_key }: { caller: Caller; server_key: string },
): Computation {
  const { agent_config, attestation_policy, result_review, consumers, providers, algorithm, datasets } = definition;
  return {
    ...row,
    agent_config: { ...withoutServerKey(agent_config), ...(mayReadServerKey(row, caller) ? { server_key } : {}) }, // defence
    attestation_policy,
    result_review,
    consumers,
    providers,
    assets: [...(algorithm ? [algorithm] : []), ...datasets].map(({ asset_id, file_name, asset_type }) => ({
      id: asset_id,
      file_name,
      asset_type,
    })),
    parties: partiesOf(row, definition),
  };
}

/**
 * Reads the row of a computation and its definition: configuration, policy, consumers, providers and links. One round trip.
 * @throws ServiceError `not_found`
 */
export async function readToDescribe(table: Table, domain: string, id: string) {
  const [row, definition] = await Promise.all([readComputation(table, domain, id), readDefinition(table, id)]);
  return { row, definition };
}

/**
 * Returns the ETag of a computation as a caller sees it. The ETag covers configuration and links, because a reader can see the
 * row after a change and the other items before it.
 */
export function computationEtag(caller: Caller, row: StoredComputation, definition: Definition): string {
  const { server_key } = definition.agent_config;
  const digest = server_key === '' ? '' : server_key.digest;
  return etagOf(v.parse(computationSchema, describeComputation(row, definition, { caller, server_key: digest })));
}

/**
 * Returns the ETag of the short form of a computation, its row. The version of the row stands for everything that the short form
 * does not show.
 */
export function peekEtag(row: StoredComputation): string {
  return etagOf([rowOf(row), row.version]);
}

/**
 * Returns the ETags of a computation that an If-Match of a caller may name: that of the whole computation and that of its short
 * form.
 */
export function etagsFor(caller: Caller, row: StoredComputation, definition: Definition): string[] {
  return [computationEtag(caller, row, definition), peekEtag(row)];
}

interface Request {
  domain: string;
  id: string;
  caller: Caller;
  isPeek: boolean;
  isKnown?: ((etag: string) => boolean) | undefined;
}

interface Described {
  etag: string;
  computation?: Computation | ReturnType<typeof rowOf>;
}

/**
 * Returns a computation for the caller, or only its ETag if the client has the current version. One round trip, and a call of KMS
 * if the answer includes a private key.
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
  const server_key = await openKey(kms, { computation: row.id }, stored);
  return { etag, computation: describeComputation(row, definition, { caller, server_key }) };
}

/**
 * Adds the present private key of the agent to a computation from a kept answer, if the computation still exists and the caller
 * may read the key now. One round trip, and a call of KMS if there is a key.
 */
export async function withCurrentServerKey(
  computation: Computation,
  { domain, caller, table, kms }: { domain: string; caller: Caller; table: Table; kms: Kms },
): Promise<Computation> {
  const { id, agent_config } = computation;
  const [item, config] = await Promise.all([
    getItem(table, computationKey(domain, id)),
    getItem(table, computationKeys.config(id)),
  ]);
  const row = findComputation(item, id);
  if (!row || !mayReadServerKey(row, caller)) return computation;
  const { agent_config: kept } = parseDefinition(config ? [config] : []);
  const server_key = await openKey(kms, { computation: id }, kept.server_key);
  return { ...computation, agent_config: { ...agent_config, server_key } };
}

/** A page of a list of computations, with its filters. */
interface ListRequest {
  limit: number;
  offset: number;
  status?: ComputationStatus | undefined;
  owner?: string | undefined;
  /** The user for whom the computations must wait. */
  waiting_for?: string | undefined;
  /** Sorts by the time of the last change. Default: by that of the creation. */
  sort?: 'updated' | undefined;
}

/**
 * Lists the computations of a domain, those of an owner, or those that wait for a user, with the exact total. See readPage for the
 * round trips that it costs; a page by last change takes one more.
 * @throws ServiceError `invalid_request` if filters do not go together
 */
export async function listComputations(
  table: Table,
  domain: string,
  { limit, offset, status, owner, waiting_for: user, sort }: ListRequest,
): Promise<{ computations: ComputationRow[]; total: number }> {
  if (sort && status !== undefined) throw invalid('query/status', '`status` cannot be combined with `sort`.');
  if (sort && owner !== undefined) throw invalid('query/owner', '`owner` cannot be combined with `sort`.');
  if (user !== undefined && owner !== undefined) throw invalid('query/owner', '`owner` cannot be combined with `waiting_for`.');
  const parse = (row: Item) => parseStored(storedComputation, row, 'computation');
  if (sort) {
    const { numbers: places, total } = await openList(
      table,
      user === undefined ? rowLists.updated(domain) : rowLists.tasks(domain, user, 'updated'),
    ).page({ limit, offset });
    const keyAt = (place: number) => listKeys.row(lists.updated(domain), place);
    const placed = await getItems(table, places.map(keyAt));
    const numbers = placed.flatMap((item) => (typeof item?.['computation'] === 'number' ? [item['computation']] : []));
    const keyOf = (number: number) => listKeys.row(lists.computations(domain), number);
    const rows = await getItems(table, numbers.map(keyOf));
    return { computations: rows.flatMap((row) => (row ? [parse(row)] : [])), total };
  }
  const list =
    user !== undefined
      ? rowLists.waiting(domain, user)
      : owner !== undefined
        ? rowLists.ownedComputations(domain, owner)
        : rowLists.computations(domain);
  const { rows, total } = await readPage(table, list, { limit, offset, state: status });
  return { computations: rows.map(parse), total };
}
