import { type Client, findRows, items, page, type Schemas, wholeAnswer } from 'computation-management-client';
import { approvalRows, describeMissing, isGiven, isNothing } from 'computation-management-words';
import { type Machine, machinesFor } from '../attestation/machines.ts';

/**
 * An asset that is linked to a computation. The fields from the list of assets may be missing, such as right after the asset was deleted.
 */
export type Input = Omit<Schemas['AssetOfComputation'], 'asset_type'> &
  Partial<Schemas['AssetRow']> &
  Pick<Schemas['AssetRow'], 'asset_type'>;

export type Overview = Awaited<ReturnType<typeof loadOverview>>;

/**
 * Reads a computation with the things that a run of it still needs. Looks linked assets up in the list of assets: reading them one by one
 * would count as reading their content.
 */
export async function loadOverview(client: Client, id: string, signal: AbortSignal) {
  const [{ computation, etag }, check, approvals, { uploaded }] = await Promise.all([
    loadComputation(client, id, signal),
    client.call('dryRun', { id, signal }),
    client.listApprovals({ id, signal }),
    client.checkKey({ id, signal }),
  ]);
  const { data: dryRun, digest } = wholeAnswer(check);
  const ids = computation.assets.map((asset) => asset.id);
  const policy = computation.attestation_policy;
  const [rows, cvms] = await Promise.all([
    findRows(client, 'listAssets', ids, { signal }),
    policy && page(client, 'listCvms', { limit: 100, signal }),
  ]);
  const machines = policy && cvms ? machinesFor(policy, cvms.items) : undefined;
  const inputs = computation.assets.map((asset) => ({ ...rows.get(asset.id), ...asset }));
  const missing = dryRun.missing_items;
  return {
    computation,
    etag,
    inputs,
    missing,
    warnings: dryRun.warnings ?? [],
    /** True if a run could start: nothing is missing, and a machine is at hand that the attestation policy allows. */
    isReady: isNothing(missing) && hasMachine(machines),
    /** The newest 100 registered CVMs, judged by the attestation policy. Undefined without a policy: a run may use any CVM. */
    machines,
    /** The digest of the computation's current manifest. Undefined while there is no manifest. */
    digest,
    approvals,
    hasMyKey: uploaded,
    ...partiesOf({ computation, inputs, missing, approvals }),
  };
}

/** Returns whether a CVM is at hand on which a run could start. @param machines undefined if a run may use any CVM */
export function hasMachine(machines: readonly Machine[] | undefined): boolean {
  return machines === undefined || machines.some(({ reasons }) => reasons.length === 0);
}

export async function loadComputation(client: Client, id: string, signal: AbortSignal) {
  const { data: computation, etag } = wholeAnswer(await client.call('getComputation', { id, signal }));
  return { computation, etag };
}

/** A user who takes part in a computation, or whom it names. */
export interface Party {
  user: string;
  /** The parts of the user in the computation, such as `owner`. */
  parts: Schemas['Party']['parts'];
  /** True if the computation only names the user, who has not acted yet. */
  isInvited: boolean;
  /** The files that the user brings. */
  files: Pick<Input, 'asset_type' | 'file_name'>[];
  /** The things that a run still waits for from this user. */
  owes: Debt[];
  /** The refusal of the user, if one stands. */
  refusal: Schemas['Refusal'] | undefined;
}

/** A thing that a run of a computation waits for from a party: a key, the content of files, or an approval. */
export interface Debt {
  kind: 'key' | 'content' | 'approval';
  /** The names of the files for which the party owes the thing. */
  files: string[];
  /** The identifier of the asset whose content is missing. */
  asset?: string;
  /** The time at which the asset with missing content was created. */
  since?: string | undefined;
}

interface Given {
  computation: Pick<Schemas['Computation'], 'parties'>;
  /** The linked assets, each with the fields that are known. */
  inputs: readonly (Pick<Schemas['AssetOfComputation'], 'file_name' | 'asset_type'> &
    Partial<Pick<Schemas['AssetRow'], 'id' | 'created_by' | 'created_at' | 'state'>>)[];
  missing: Schemas['MissingItems'];
  approvals: Schemas['Approvals'];
}

/** The reasons for an approval that are no file. */
const otherReasons = ['result consumer', 'reviewer'];

/**
 * Returns the users who take part in a computation, the owner first, and what each user still owes before a run: `unowned` is the missing
 * content of files whose creator the service does not name, and no party in particular owes `others`.
 */
export function partiesOf({ computation, inputs, missing, approvals }: Given) {
  const parties = new Map<string, Party>();
  const party = (user: string): Party => {
    const known = parties.get(user) ?? { user, parts: [], isInvited: false, files: [], owes: [], refusal: undefined };
    parties.set(user, known);
    return known;
  };

  for (const { user, parts, invited } of computation.parties) Object.assign(party(user), { parts, isInvited: invited });
  for (const { created_by, asset_type, file_name } of inputs) {
    if (created_by !== undefined) party(created_by).files.push({ asset_type, file_name });
  }
  for (const refusal of approvals.refusals) party(refusal.user).refusal = refusal;

  const unowned: Debt[] = [];
  for (const user of missing.keys) party(user).owes.push({ kind: 'key', files: [] });
  for (const file of missing.hashes) {
    const pending = inputs.filter(({ file_name, state }) => file_name === file && state === 'pending');
    for (const { id, created_by, created_at } of pending) {
      if (created_by === undefined) continue;
      party(created_by).owes.push({ kind: 'content', files: [file], since: created_at, ...(id !== undefined && { asset: id }) });
    }
    if (!pending.some(({ created_by }) => created_by !== undefined)) unowned.push({ kind: 'content', files: [file] });
  }
  for (const { user, because, state } of approvalRows(approvals)) {
    if (because.length === 0 || isGiven({ state }) || party(user).refusal) continue; // a refusal stands in the place of the approval
    party(user).owes.push({ kind: 'approval', files: because.filter((reason) => !otherReasons.includes(reason)) });
  }
  const others = describeMissing(missing).filter(({ kind }) => kind === 'algorithm' || kind === 'other');
  return { parties: [...parties.values()], unowned, others };
}

/**
 * Returns the creators of the assets that an active run uses: the assets linked now, without those linked since the run started, and with
 * those unlinked since. The service deletes none of them before the run ends.
 */
export async function creatorsInRun(
  client: Client,
  { computation_id: id, started_at: from }: Pick<Schemas['Run'], 'computation_id' | 'started_at'>,
  signal: AbortSignal,
): Promise<string[]> {
  const { computation } = await loadComputation(client, id, signal);
  const links = new Map(computation.assets.map((asset) => [asset.id, 1]));
  const undone = { asset_unlinked: 1, asset_linked: -1 };
  for (const [event_type, change] of Object.entries(undone)) {
    for await (const { details } of items(client, 'listEvents', { id, event_type, from, signal })) {
      const { asset_id } = JSON.parse(atob(details)) as { asset_id: string };
      links.set(asset_id, (links.get(asset_id) ?? 0) + change);
    }
  }
  const used = [...links].filter(([, count]) => count > 0).map(([asset]) => asset);
  const rows = await findRows(client, 'listAssets', used, { signal });
  return [...rows.values()].map(({ created_by }) => created_by);
}
