import { numberedId } from 'computation-management-formats/identifiers';
import { expect, it } from 'vitest';
import { contentCheckItem } from '../../../shared/rows/content-check.ts';
import { collectContent } from '../../../shared/assets/collect-content.ts';
import { putItems } from '../../../shared/table/writes.ts';
import { slowness } from '../../support/patience.ts';
import { amount } from '../../support/amounts.ts';
import { clockOfTests } from '../../support/append-to-journal.ts';
import { startStores } from '../../support/builders-store.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';

const stores = sharedByTests(() => startStores({ latencyInMilliseconds: 5 }));

/** The number of content checks that are due at once. Every 15 minutes, 12,500 are due at 50,000 uploads an hour. */
const checks = amount({ sample: 200, full: 12_500 });
const timeBetweenCalls = 900_000;

it(`the collector processes ${checks} checks that come between two of its calls in one, long before the next`, async ({
  annotate,
}) => {
  const hours = (count: number) => new Date(Date.parse(clockOfTests) + count * 3_600_000).toISOString();
  // No row names the content, so that it is deleted: that takes the most calls.
  const keys = Array.from({ length: checks }, (_, number) => `content/upload/d1/${numberedId(number)}/file`);
  await putItems(
    stores.table,
    keys.map((key) => contentCheckItem(key, clockOfTests)),
  );
  const [start, callsBefore] = [performance.now(), stores.proxy.calls.length];
  expect(await collectContent(stores.mortal, stores.content, hours(3))).toBe(checks);
  const milliseconds = Math.round(performance.now() - start);
  await annotate(`${checks} checks: ${milliseconds} ms, ${stores.proxy.calls.length - callsBefore} calls of the table`);
  expect(milliseconds).toBeLessThan((timeBetweenCalls / 4) * slowness());
  expect(await collectContent(stores.mortal, stores.content, hours(3))).toBe(0);
});
