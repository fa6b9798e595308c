import * as v from 'valibot';
import {
  type ApprovalChange,
  change,
  changesBetween,
  mostChanges,
  type PlacedChange,
} from 'computation-management-formats/covered-changes';
import { approvableOf, draftOf, inputsOf, readParts } from '../rows/manifest.ts';
import type { StoredApproval } from '../rows/stored-approval.ts';
import { approvedKeys, cvmKeys } from '../table/keys.ts';
import { type Table, getItemsOf } from '../table/table.ts';
import { describeApproval, describeRefusal } from './approval.ts';
import { becauseOf, neededApprovals, ownReasons } from './readiness.ts';
import { explainChanges, type Approved, aroundOf, parseApproved } from './explain-changes.ts';
import { administrativeEvents } from 'computation-management-formats/vocabulary';
import { readNewestOf } from '../journal/read-journal.ts';
import { parseStored } from '../table/stored.ts';
import { assetKey } from '../rows/asset.ts';
import { readComputation } from '../rows/computation.ts';
import { storedCvm } from '../rows/cvm.ts';

/** The most administrative events since an approval, the newest, in which the authors of changes are looked for. */
const mostEvents = 1_000;

/**
 * Lists the users whose approval a computation needs, the refusals, and the approvals that were given, with the reasons why some do
 * not count. Two round trips, or five if an approval is stale. The newest 1,000 administrative events since that approval are then read:
 * an author of a change before them is not known.
 * @param at RFC 3339, UTC, milliseconds
 * @throws ServiceError `not_found`
 */
export async function listApprovals(table: Table, domain: string, id: string, at: string) {
  const [computation, parts] = await Promise.all([readComputation(table, domain, id), readParts(table, id)]);
  const limiting = parts.approvals.flatMap(({ certificates }) => Object.keys(certificates));
  const [assets, cvms] = await Promise.all([
    getItemsOf(table, parts.assetIds, (assetId) => assetKey(domain, assetId)),
    readRegistered(table, domain, limiting),
  ]);
  const inputs = inputsOf(computation, parts, assets);
  const current = { ...approvableOf(inputs), manifest: draftOf(inputs), receivers: aroundOf(inputs).receivers };
  const others = inputs.approvals.filter((given) => isOfOther(given, current));
  const stale = inputs.approvals.filter((given) => others.includes(given) || ownReasons(given, inputs, at).length > 0);
  const [from = at] = stale.map(({ approved_at }) => approved_at).toSorted();
  const [items, newest] = await Promise.all([
    getItemsOf(table, others, ({ user_id }) => approvedKeys.approved(id, user_id)),
    stale.length > 0 ? readNewestOf(table, id, { types: administrativeEvents, from, limit: mostEvents }) : [],
  ]);
  const because = (approval: StoredApproval) => {
    const item = items[others.indexOf(approval)];
    const approved = item && parseApproved(item);
    const changes = others.includes(approval) ? changesOf(approval, approved, current) : [];
    const own = [...ownReasons(approval, inputs, at), ...ofCvms(approval, certificatesOf(cvms))];
    // Some places are left for what has become of the approval itself: the list is cut.
    return [...changes.slice(0, mostChanges - Math.min(own.length, 5)), ...own].map(
      explainChanges({ approval, inputs, approved, newest, cvms }),
    );
  };
  return {
    needed: neededApprovals(inputs).map((needed) => ({ user: needed.user, because: becauseOf(needed) })),
    approvals: inputs.approvals.map((given) => describeApproval(given, inputs.used_runs, because(given))),
    refusals: inputs.refusals.map(describeRefusal),
  };
}

type Current = Omit<ReturnType<typeof approvableOf>, 'manifest'> & { manifest: ReturnType<typeof draftOf>; receivers: string[] };

/** Tells whether an approval was given for another manifest or configuration than the computation has now. */
function isOfOther({ digest, configuration_digest }: StoredApproval, current: Current): boolean {
  return digest !== current.digest || configuration_digest !== current.configuration_digest;
}

/**
 * Lists the differences between what a user approved and what a run would get now. Names the whole manifest if no difference is
 * found: the current one may lack what it does not show, such as `cert_file` for a `server_key`, or the user has approved again
 * or withdrawn since the approval was read.
 */
function changesOf({ digest }: StoredApproval, approved: Approved | undefined, current: Current): PlacedChange[] {
  const changes = approved ? changesBetween({ ...approved, receivers: approved.around.receivers }, current) : [];
  return changes.length > 0 ? changes : [change('/manifest', digest, current.digest)];
}

/**
 * Lists the CVMs named in an approval whose certificates have changed since. Empty if at least one of the named CVMs has the same
 * certificate, or none as then: then the approval still counts.
 */
function ofCvms({ cvm_ids, certificates }: StoredApproval, now: StoredApproval['certificates']): ApprovalChange[] {
  const changes = (cvm_ids ?? []).flatMap((id, index) => {
    const [before, after] = [certificates[id], now[id]];
    return before === after ? [] : [change(`/cvm_ids/${index}`, before, after)];
  });
  return changes.length === cvm_ids?.length ? changes : [];
}

const registered = v.object({ certificate_fingerprint: v.nullable(v.string()), certified: storedCvm.entries.certified });
type Registered = ReadonlyMap<string, v.InferOutput<typeof registered> | undefined>;

/** Reads registered CVMs by identifier. Undefined for one that is not registered. One round trip. */
async function readRegistered(table: Table, domain: string, cvmIds: string[]): Promise<Registered> {
  const items = await getItemsOf(table, cvmIds, (id) => cvmKeys.cvm(domain, id));
  return new Map(items.map((item, index) => [cvmIds[index] ?? '', item && parseStored(registered, item, 'registered CVM')]));
}

const certificatesOf = (cvms: Registered) =>
  Object.fromEntries(Array.from(cvms, ([id, cvm]) => [id, cvm?.certificate_fingerprint ?? null]));

/**
 * Reads the certificate fingerprints of CVMs, by identifier. Null for a CVM that is not registered or has no certificate. One
 * round trip.
 */
export async function readCertificates(table: Table, domain: string, cvmIds: string[]): Promise<StoredApproval['certificates']> {
  return certificatesOf(await readRegistered(table, domain, cvmIds));
}
