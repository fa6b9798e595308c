import type { InvokeFunction } from '../../local/functions/local-functions.ts';
import type { RouteName } from '../../shared/endpoints/endpoints.ts';
import { executionStatus } from '../../shared/lifecycle/executions.ts';
import type { Stores } from '../support/builders-store.ts';
import { httpEvent } from '../support/http-event.ts';
import { scan } from '../support/inconsistencies.ts';

interface Page {
  id: string;
  cvm_id: string;
}

/** Reads everything that callers can see of a domain, the executions of its runs, and how many items there are of each kind. */
export async function viewOf(stores: Stores, invoke: InvokeFunction, domain: string): Promise<unknown> {
  const read = async (name: RouteName, path: Record<string, string> = {}, query: Record<string, string> = {}) => {
    const method = name === 'runs/dry-run' ? 'POST' : 'GET';
    const answer = (await invoke(name, httpEvent(method, domain, { path, query }))) as { statusCode: number; body: string };
    const { request_id: _, ...body } = JSON.parse(answer.body) as Record<string, unknown>;
    return { statusCode: answer.statusCode, body };
  };
  const pageOf = async (name: RouteName, rows: string, path: Record<string, string> = {}) => {
    const { body } = await read(name, path, { limit: '100' });
    return body[rows] as Page[];
  };
  const [computations, assets, runs, cvms] = [
    await pageOf('computations/list-computations', 'computations'),
    await pageOf('assets/list-assets', 'assets'),
    await pageOf('runs/list-runs', 'runs'),
    await pageOf('cvms/list-cvms', 'cvms'),
  ];
  const ofComputations = computations.map(({ id }) =>
    Promise.all([
      read('computations/get-computation', { id }),
      read('events/list-events', { id }, { limit: '100' }),
      read('events/get-status', { id }),
      read('keys/check-key', { id }),
      read('runs/dry-run', { id }),
      read('approvals/list-approvals', { id }),
    ]),
  );
  const ofAssets = assets.map(({ id }) =>
    Promise.all([read('assets/get-asset', { id }), read('assets/list-linked-computations', { id })]),
  );
  const ofRuns = runs.map(({ id, cvm_id }) =>
    Promise.all([
      read('cvms/list-commands', { cvmID: cvm_id }),
      executionStatus(stores.executions, 'run', id),
      executionStatus(stores.executions, 'stop', id),
    ]),
  );
  const items = await scan(stores.table);
  return {
    computations,
    assets,
    runs,
    todo: await read('todo/get-todo'),
    cvms,
    statistics: await read('statistics/get-statistics', {}, { days: '366' }),
    ofComputations: await Promise.all(ofComputations),
    ofAssets: await Promise.all(ofAssets),
    ofRuns: await Promise.all(ofRuns),
    agents: items.filter(isOfAgent),
    items: kindsOf(items),
  };
}

/** Says whether an item is what a gateway recorded of an agent process, or an attestation that it sent. */
function isOfAgent({ pk, sk }: Record<string, unknown>): boolean {
  return String(pk).startsWith('agent#') || String(sk).startsWith('attestation#');
}

/**
 * Counts the items by kind, except those of a list's index, whose number depends on the numbers of its members, slots of waits, which
 * become free by themselves, and the secret of challenges, which a process keeps.
 */
function kindsOf(items: Record<string, unknown>[]): Record<string, number> {
  const kinds: Record<string, number> = {};
  for (const { pk, sk } of items) {
    const kind = [pk, sk].map((part) => String(part).split('#')[0]).join(' ');
    if (!/ (?:counter|leaf|mid|slot)$|^secrets challenges$/.test(kind)) kinds[kindOf(kind)] = (kinds[kindOf(kind)] ?? 0) + 1;
  }
  return Object.fromEntries(Object.entries(kinds).sort());
}

/** Some sort keys begin with an identifier or a time. Entries of a log are named by numbers, kept answers and waiting entries by hashes. */
function kindOf(kind: string): string {
  return kind
    .replace(/ (?:[0-9a-f]{8}-|\d{4}-).*/, '')
    .replace(/^answers .*/, 'answers')
    .replace(/^cvm-key .*/, 'cvm-key')
    .replace(/^log .*/, 'log')
    .replace(/^history-waiting .*/, 'history-waiting');
}

const identifiers = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|cvm-\d+-of-bench/g;
const times = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g;

const ofIdentifiers = new Set([
  'hash',
  'previous_hash',
  'digest',
  'manifest_digest',
  'configuration_digest',
  'signature',
  'certificate',
  'certificate_fingerprint',
  'bound_to',
  'nonce',
]);

/** Says whether a value is the entry of a log in the envelope of a statement, which was not replaced yet. */
function isEntry(value: unknown): value is { index: number } {
  return typeof value === 'object' && value !== null && 'salt' in value && 'index' in value && typeof value.index === 'number';
}

/**
 * A replacer for JSON.stringify: links hold times and signatures, digests and hashes depend on identifiers, and the details of
 * events hold both in base64, as do places in a log.
 */
function comparable(name: string, value: unknown): unknown {
  if (name === 'url') return 'a link';
  if (name === 'ttl') return 'a time';
  if (name === 'next' && typeof value === 'string' && value !== '') return 'a place in the log';
  if (name === 'salt' || name === 'proof') return `a ${name}`;
  if (isEntry(value)) return { ...value, index: 'a place that depends on the salts' };
  if (ofIdentifiers.has(name) && typeof value === 'string' && value !== '') return `a ${name}`;
  if (name !== 'details' || typeof value !== 'string') return value;
  return Buffer.from(value, 'base64')
    .toString()
    .replace(/"((?:manifest_|configuration_|start_)?digest)":"[0-9a-f]{64}"/g, '"$1":"a digest"');
}

/**
 * Replaces what differs between two equal courses of events: times, presigned links, and identifiers, which are numbered by
 * their first occurrence.
 */
export function normalized(value: unknown): unknown {
  const names = new Map<string, string>();
  const text = JSON.stringify(value, comparable)
    .replace(times, 'a time')
    .replace(identifiers, (id) => {
      const known = names.get(id) ?? `id ${names.size + 1}`;
      names.set(id, known);
      return known;
    });
  return JSON.parse(text) as unknown;
}
