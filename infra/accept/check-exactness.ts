import { setTimeout as delay } from 'node:timers/promises';
import type { Data } from 'computation-management-client';
import type { AcceptClient } from './accept-client.ts';
import { retryWhileLimited } from './retry-while-limited.ts';
import type { Finding } from './finding.ts';

const writers = 4;
const readers = 2;

/** A refused read is tried again after this time. */
const pauseInMilliseconds = 1_000;

const what = 'totals and pages while computations come and go';
const documented = 'exact also right after a write (contract, R4); a page leaves out rows that are deleted meanwhile';

/**
 * Creates and deletes computations, and reads their list meanwhile. Every total must be between what was acknowledged before the read
 * began and what was sent before it ended, and no more rows may lack in a page than were being deleted. In the end, all pages together must have each computation once.
 * @param changes the computations that are created; every third is deleted
 */
export async function checkExactness(client: AcceptClient, changes: number): Promise<Finding> {
  const state = { created: 0, creating: 0, deleted: 0, deleting: 0, unknown: 0 };
  const present = new Set<string>();
  let left = changes;
  const write = async () => {
    while (left > 0) {
      left -= 1;
      state.creating += 1;
      const { status, body } = await retryWhileLimited(() => client.call('createComputation', { body: { name: 'accept' } }));
      if (status !== 201 || !body) {
        state.unknown += 1;
        continue;
      }
      state.created += 1;
      const { id } = body;
      present.add(id);
      if (state.created % 3 !== 0) continue;
      state.deleting += 1;
      present.delete(id);
      const deleted = await retryWhileLimited(() => client.call('deleteComputation', { id }));
      if (deleted.status === 204) state.deleted += 1;
      else state.unknown += 1;
    }
  };
  let isWriting = true;
  const problems: string[] = [];
  let reads = 0;
  const read = async () => {
    while (isWriting) {
      const before = { ...state };
      const { status, body } = await client.call('listComputations', { limit: 10 });
      if (status !== 200 || !body) {
        if (status !== 429) problems.push(`a read answered ${status}`);
        await delay(pauseInMilliseconds);
        continue;
      }
      reads += 1;
      const { total } = body;
      const [least, most] = [before.created - state.deleting, state.creating - before.deleted];
      if (total < least || total > most) problems.push(`a total of ${total}, not ${least} to ${most}`);
      const ids = idsIn(body);
      const leftOut = Math.min(10, total) - new Set(ids).size;
      if (leftOut < 0 || leftOut > state.deleting - before.deleted) {
        problems.push(`a page of ${ids.length} with a total of ${total}`);
      }
    }
  };
  const reading = Promise.all(Array.from({ length: readers }, read));
  await Promise.all(Array.from({ length: writers }, write));
  isWriting = false;
  await reading;
  problems.push(...(await problemsInTheEnd(client, present, state.unknown)));
  const measured =
    problems.length === 0
      ? `${reads} reads beside ${state.created} creates and ${state.deleted} deletes: all exact`
      : `${problems.length} of ${reads} reads wrong, such as ${problems[0]}`;
  return { what, documented, measured, holds: problems.length === 0 };
}

function idsIn({ computations }: Data<'listComputations'>): string[] {
  return computations.map(({ id }) => id);
}

async function problemsInTheEnd(client: AcceptClient, present: ReadonlySet<string>, unknown: number): Promise<string[]> {
  const found: string[] = [];
  for (let offset = 0; ; offset += 100) {
    const { status, body } = await retryWhileLimited(() => client.call('listComputations', { limit: 100, offset }));
    if (status !== 200 || !body) return [`a page answered ${status}`];
    found.push(...idsIn(body));
    if (found.length >= body.total || idsIn(body).length === 0) break;
  }
  const missing = [...present].filter((id) => !found.includes(id)).length;
  const extra = found.length - new Set(found).size + found.filter((id) => !present.has(id)).length;
  if (missing > 0) return [`${missing} computations in no page`];
  return extra > unknown ? [`${extra} entries too many in all pages`] : [];
}
