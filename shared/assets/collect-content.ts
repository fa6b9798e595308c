import { removeAsset, assetKey, findAsset } from '../rows/asset.ts';
import { type ContentCheck, dropContentCheck, dueContentChecks, putLastCheck } from '../rows/content-check.ts';
import { type ContentStore, ownerOfContent } from '../rows/content-store.ts';
import { failureOf } from '../runtime/errors.ts';
import { emitWaiting } from '../runtime/log.ts';
import { deadlineOf, getItem, type Table } from '../table/table.ts';
import { transact, writeFresh } from '../table/transaction.ts';
import { receiveUpload } from './uploads.ts';

/**
 * The largest number of content checks in one read. A content check is a note to look again at content that was to be uploaded,
 * written or replaced. The number is also the threshold of the alarm content-backlog: a call that leaves a full read triggers it.
 */
const mostChecksPerRead = 1_000;
const checksAtOnce = 10;
/** The time in milliseconds that must be left of a call for the check of another piece of stored content to begin. */
const leastTimeInMilliseconds = 4_000;

/**
 * Looks at stored content that is due for a check: deletes replaced content and leftovers of a crash between storage and table,
 * receives uploads whose event was lost, and deletes released results whose time is over. Continues as far as the time of the function allows.
 * @param checksPerRead at least 2, since a read may begin with a check that failed
 * @returns the number of checks processed
 * @throws AggregateError with all failures, in the end
 */
export async function collectContent(table: Table, store: ContentStore, now: string, checksPerRead = mostChecksPerRead) {
  const failures = new Map<string, unknown>();
  let begun = 0;
  let from: string | undefined;
  for (;;) {
    const due = await dueContentChecks(table, now, checksPerRead, from);
    const open = due.filter(({ sk }) => !failures.has(sk));
    const ofThese = await settleAll(table, store, open, { now, failures });
    begun += ofThese;
    const areMoreDue = due.length === checksPerRead;
    // Further ones are estimated as one full read.
    if (ofThese < open.length) return report({ begun, left: areMoreDue ? checksPerRead : open.length - ofThese, failures });
    if (!areMoreDue) return report({ begun, left: 0, failures });
    from = due.at(-1)?.sk;
  }
}

/**
 * Processes checks of stored content, ten at a time, while there is time left. Notes failures by the sort key of the check.
 * @returns the number of checks that were begun in time
 */
async function settleAll(
  table: Table,
  store: ContentStore,
  checks: readonly ContentCheck[],
  { now, failures }: { now: string; failures: Map<string, unknown> },
): Promise<number> {
  const settle = async (check: ContentCheck) => {
    const { content_key, is_last, is_expiry } = check;
    if (is_expiry) await removeResult(table, content_key);
    const isAwaited = await receiveUpload(table, store, content_key, now, { isReported: false });
    await transact(table, [dropContentCheck(check), ...(isAwaited && !is_last ? [putLastCheck(content_key, now)] : [])]);
  };
  const noteFailure = (check: ContentCheck) => (error: unknown) => failures.set(check.sk, failureOf(check.content_key, error));
  for (let start = 0; start < checks.length; start += checksAtOnce) {
    if (deadlineOf(table).remaining < leastTimeInMilliseconds) return start;
    const some = checks.slice(start, start + checksAtOnce);
    await Promise.all(some.map((check) => settle(check).catch(noteFailure(check))));
  }
  return checks.length;
}

/**
 * Emits the number of content checks that still wait, if there are any.
 * @returns the number of checks processed
 * @throws AggregateError if any of them failed
 */
function report({ begun, left, failures }: { begun: number; left: number; failures: ReadonlyMap<string, unknown> }): number {
  const waiting = left + failures.size;
  if (waiting > 0) emitWaiting('maintenance/collect-content', waiting);
  if (failures.size === 0) return begun;
  throw new AggregateError(failures.values(), `${failures.size} of ${begun} content checks failed.`);
}

/**
 * Removes the asset of a released result whose time is over, or whose computation was deleted. Its content is then deleted by the
 * caller. Safe to repeat.
 * @param contentKey the key in storage of the content of the result
 */
async function removeResult(table: Table, contentKey: string): Promise<void> {
  const owner = ownerOfContent(contentKey);
  if (!owner) return;
  await writeFresh(table, async (table, transaction) => {
    const asset = findAsset(await getItem(table, assetKey(owner.domain, owner.assetId)), owner.assetId);
    if (!asset?.result_of) return;
    removeAsset(transaction, owner.domain, asset);
  });
}
