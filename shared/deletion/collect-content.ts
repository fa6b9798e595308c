import { findAsset, assetKey } from '../assets/read-asset.ts';
import { dropContentCheck, dueContentChecks, type ContentCheck } from '../assets/content-check.ts';
import { deleteContent, ownerOfContent, type ContentStore } from '../assets/content-store.ts';
import { receiveUpload } from '../assets/uploads.ts';
import { failureOf } from '../runtime/errors.ts';
import { emitWaiting } from '../runtime/metrics.ts';
import { deadlineOf, getItem, type Table } from '../table/table.ts';
import { transact } from '../table/transaction.ts';

/** The threshold of the alarm content-backlog: a call that leaves a full read of checks triggers it. */
const mostChecksPerRead = 1_000;
const checksAtOnce = 10;
/** No check is begun with less time left. */
const leastTimeInMilliseconds = 4_000;

/**
 * Deletes content that no row names: replaced content, and leftovers of a crash between storage and table. Every key has a
 * content check before it is written, so storage is never listed. An expected upload whose event was lost is processed too.
 * Processes all checks that are due, as far as the time of the function allows. Those that fail keep no later ones waiting.
 * @param now checks due before this time are processed
 * @param checksPerRead at least 2, since a read may begin with one that failed
 * @returns the number of checks processed
 * @throws AggregateError with all failures, after every check was processed
 */
export async function collectContent(
  table: Table,
  store: ContentStore,
  now: string,
  checksPerRead = mostChecksPerRead,
): Promise<number> {
  const failures = new Map<string, unknown>();
  let begun = 0;
  let from: string | undefined;
  for (;;) {
    // A check that failed stays: it is the first one of the next read if it was the last one of this.
    const due = await dueContentChecks(table, now, checksPerRead, from);
    const open = due.filter(({ sk }) => !failures.has(sk));
    const ofThese = await settleAll(table, store, open, { now, failures });
    begun += ofThese;
    const areMoreDue = due.length === checksPerRead;
    // Further due checks are not counted. They are estimated as one full read.
    if (ofThese < open.length) return report({ begun, left: areMoreDue ? checksPerRead : open.length - ofThese, failures });
    if (!areMoreDue) return report({ begun, left: 0, failures });
    from = due.at(-1)?.sk;
  }
}

/** Settles checks and notes failures by their sort key. @returns the number of checks that were begun in time */
async function settleAll(
  table: Table,
  store: ContentStore,
  checks: readonly ContentCheck[],
  { now, failures }: { now: string; failures: Map<string, unknown> },
): Promise<number> {
  const settle = async (check: ContentCheck) => {
    await collectOrReceive(table, store, check.content_key, now);
    await transact(table, [dropContentCheck(check)]);
  };
  const noteFailure = (check: ContentCheck) => (error: unknown) => failures.set(check.sk, failureOf(check.content_key, error));
  for (let start = 0; start < checks.length; start += checksAtOnce) {
    if (deadlineOf(table).remaining < leastTimeInMilliseconds) return start;
    const some = checks.slice(start, start + checksAtOnce);
    await Promise.all(some.map((check) => settle(check).catch(noteFailure(check))));
  }
  return checks.length;
}

/** Tells what waits for the next call. @throws AggregateError if checks failed */
function report({ begun, left, failures }: { begun: number; left: number; failures: ReadonlyMap<string, unknown> }): number {
  const waiting = left + failures.size;
  if (waiting > 0) emitWaiting('maintenance/collect-content', waiting);
  if (failures.size === 0) return begun;
  throw new AggregateError(failures.values(), `${failures.size} of ${begun} content checks failed.`);
}

async function collectOrReceive(table: Table, store: ContentStore, key: string, now: string): Promise<void> {
  const owner = ownerOfContent(key);
  const row = owner && findAsset(await getItem(table, assetKey(owner.domain, owner.assetId)), owner.assetId);
  if (row?.content_key === key) return;
  if (row?.upload_key === key) await receiveUpload(table, store, key, now);
  else await deleteContent(store, key);
}
