import { becauseOf, digestedManifestOf, missingApprovals, neededApprovals } from '../approvals/readiness.ts';
import { storedAsset, type StoredAsset } from '../assets/asset.ts';
import { assetKey } from '../assets/read-asset.ts';
import { storedComputation, type StoredComputation } from '../computations/computation.ts';
import { inputsOf, readParts } from '../manifest/read-manifest.ts';
import { assetsOf, type Inputs } from '../manifest/manifest.ts';
import { listKeys, lists, userKeys } from '../table/keys.ts';
import { parseStored } from '../table/parse-stored.ts';
import { getItems, queryPrefix, type Table } from '../table/table.ts';
import { readParticipations, type Participation, type Participations } from './participation.ts';
import { mostEntries, type Todo } from './todo.ts';

const computationsAtOnce = 100;
const mostComputations = 300;
const mostAssets = 1_000;

type Part = Pick<Todo, 'approvals' | 'keys'>;

/**
 * Examines the user's computations in parts of 100, newest first, until both lists are full, but at most 300, and no further part
 * after 1,000 assets. Up to four round trips for each part. Costs about 1 read unit for each examined computation and each 4 KB of
 * the user's own assets, and 1 for each 4 KB of parts and each asset of those that may need an approval or a key: at most 600 for
 * 100 computations with 3 assets each, 5,000 in the worst case.
 * @param at RFC 3339, UTC, milliseconds
 */
export async function readTodo(table: Table, domain: string, userId: string, at: string): Promise<Todo> {
  const [first, pending] = await Promise.all([
    readParticipations(table, { domain, userId }, computationsAtOnce),
    readPending(table, domain, userId),
  ]);
  const readPart = ({ participations }: Participations, others: number[] = []) =>
    examine(table, { domain, userId, at }, participations, others);
  let part = await readPart(first, pending);
  const content = contentOf(pending, part.ownAssets);
  const { approvals, keys } = part;
  let { assetCount } = part;
  let { next: before } = first;
  const isFull = () => approvals.length >= mostEntries && keys.length >= mostEntries;
  for (let examined = first.participations.length; before !== undefined && !isFull();) {
    if (examined >= mostComputations || assetCount >= mostAssets) break;
    const most = Math.min(computationsAtOnce, mostComputations - examined);
    const found = await readParticipations(table, { domain, userId, before }, most);
    part = await readPart(found);
    approvals.push(...part.approvals);
    keys.push(...part.keys);
    assetCount += part.assetCount;
    examined += found.participations.length;
    before = found.next;
  }
  return { approvals: approvals.slice(0, mostEntries), keys: keys.slice(0, mostEntries), content };
}

interface Reader {
  domain: string;
  userId: string;
  at: string;
}

/** @param others assets of the user to read as well */
async function examine(
  table: Table,
  { domain, userId, at }: Reader,
  participations: Participation[],
  others: number[],
): Promise<Part & { ownAssets: Map<number, StoredAsset>; assetCount: number }> {
  const numbers = [...new Set([...others, ...participations.flatMap(({ assets }) => assets)])];
  const [rows, ownAssets] = await Promise.all([readRows(table, domain, participations), readAssets(table, domain, numbers)]);
  const candidates = participations.flatMap((participation, index) => {
    const row = rows[index];
    return row && mayWait(participation, row, ownAssets) ? [row] : [];
  });
  const found = await readAllInputs(table, domain, candidates);
  const waiting = found.map((inputs) => ({ inputs, ...waitsFor(inputs, userId, at) }));
  const nameOf = ({ computation: { id, name } }: Inputs) => ({ computation_id: id, name });
  return {
    approvals: waiting.flatMap(({ inputs, approval }) => (approval ? [{ ...nameOf(inputs), ...approval }] : [])),
    keys: waiting.flatMap(({ inputs, key }) => (key ? [nameOf(inputs)] : [])),
    ownAssets,
    assetCount: numbers.length + found.reduce((sum, inputs) => sum + assetsOf(inputs).length, 0),
  };
}

function contentOf(pending: number[], assets: Map<number, StoredAsset>): Todo['content'] {
  return pending.flatMap((number) => {
    const asset = assets.get(number);
    return asset?.state === 'pending' ? [{ asset_id: asset.id, file_name: asset.file_name }] : [];
  });
}

/** The numbers of the user's newest assets whose content has not arrived. */
async function readPending(table: Table, domain: string, userId: string): Promise<number[]> {
  const { pending: prefix } = userKeys.prefixes;
  const options = { limit: mostEntries, newestFirst: true };
  const items = await queryPrefix(table, userKeys.partition(domain, userId), prefix, options);
  return items.map(({ sk }) => Number(String(sk).slice(prefix.length)));
}

/** Returns undefined for a computation that has been deleted. */
async function readRows(
  table: Table,
  domain: string,
  participations: Participation[],
): Promise<(StoredComputation | undefined)[]> {
  const list = lists.computations(domain);
  const items = await getItems(
    table,
    participations.map(({ computation }) => listKeys.row(list, computation)),
  );
  return items.map((item) => item && parseStored(storedComputation, item, 'computation'));
}

/** By their numbers, without those that have been deleted. */
async function readAssets(table: Table, domain: string, numbers: number[]): Promise<Map<number, StoredAsset>> {
  const list = lists.assets(domain);
  const items = await getItems(
    table,
    numbers.map((number) => listKeys.row(list, number)),
  );
  return new Map(
    numbers.flatMap((number, index): [number, StoredAsset][] => {
      const item = items[index];
      return item ? [[number, parseStored(storedAsset, item, 'asset')]] : [];
    }),
  );
}

/** As far as the row and the user's own assets show. */
function mayWait(
  { isNamed, hasKey, assets }: Participation,
  { approval }: StoredComputation,
  ownAssets: Map<number, StoredAsset>,
): boolean {
  const linked = assets.flatMap((number) => ownAssets.get(number) ?? []);
  const mayNeedKey = !hasKey && (isNamed || linked.some(({ user_key }) => user_key === ''));
  return mayNeedKey || approval !== 'none' || linked.some(({ use }) => use === 'approval');
}

/** Leaves out the computations after the one with which it reads 1,000 assets. Two round trips. */
async function readAllInputs(table: Table, domain: string, computations: StoredComputation[]): Promise<Inputs[]> {
  const parts = await Promise.all(computations.map(({ id }) => readParts(table, id)));
  const assetIds = new Set<string>();
  const examined = computations.filter((_, index) => {
    if (assetIds.size >= mostAssets) return false;
    for (const id of parts[index]?.assetIds ?? []) assetIds.add(id);
    return true;
  });
  const ids = [...assetIds];
  const items = await getItems(
    table,
    ids.map((id) => assetKey(domain, id)),
  );
  const rows = new Map(ids.map((id, index) => [id, items[index]]));
  return examined.flatMap((computation, index): Inputs[] => {
    const part = parts[index];
    return part
      ? [
          inputsOf(
            computation,
            part,
            part.assetIds.map((id) => rows.get(id)),
          ),
        ]
      : [];
  });
}

interface WaitsFor {
  approval: Pick<Todo['approvals'][number], 'because' | 'manifest_digest'> | undefined;
  key: boolean;
}

function waitsFor(inputs: Inputs, userId: string, at: string): WaitsFor {
  const { digest, missing } = digestedManifestOf(inputs);
  const missingApproval = missingApprovals(inputs, { digest, at }).find(({ user }) => user === userId);
  const hasKey = inputs.keys.some(({ user_id }) => user_id === userId);
  const canGive = hasKey || inputs.computation.approval !== 'all_signed'; // without a key, no approval would count
  return {
    approval:
      missingApproval && digest !== undefined && canGive
        ? { because: becauseOf(missingApproval), manifest_digest: digest }
        : undefined,
    key: !hasKey && needsKey(inputs, userId, missing?.keys ?? []),
  };
}

function needsKey(inputs: Inputs, userId: string, missingKeys: string[]): boolean {
  if (missingKeys.includes(userId) || inputs.consumers.includes(userId)) return true;
  return inputs.computation.approval === 'all_signed' && neededApprovals(inputs).some(({ user }) => user === userId);
}
