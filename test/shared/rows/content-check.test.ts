import { describe, expect, it } from 'vitest';
import { dueContentChecks, putContentCheck } from '../../../shared/rows/content-check.ts';
import { transact } from '../../../shared/table/transaction.ts';
import { startEmbeddedTable } from '../../support/embedded-table.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';

const embedded = sharedByTests(startEmbeddedTable);

const due = async (now: string) => (await dueContentChecks(embedded.table, now, 1_000)).map((check) => check.content_key);

describe('dueContentChecks', () => {
  it('lists a check from two hours after its creation, the oldest first', async () => {
    const checks: [string, string][] = [
      ['later', '2025-07-17T08:00:01.000Z'],
      ['first', '2025-07-17T08:00:00.000Z'],
    ];
    await transact(
      embedded.table,
      checks.map(([key, now]) => putContentCheck(key, now)),
    );
    expect(await due('2025-07-17T09:59:59.999Z')).toEqual([]);
    expect(await due('2025-07-17T10:00:00.001Z')).toEqual(['first']);
    expect(await due('2025-07-17T10:00:01.001Z')).toEqual(['first', 'later']);
  });
});
