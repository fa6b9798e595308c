import { describe, expect, it } from 'vitest';
import { isOfNewestDeployment } from '../../../shared/rows/gateway-lease.ts';
import { startEmbeddedTable } from '../../support/embedded-table.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';

const embedded = sharedByTests(startEmbeddedTable);
const at = (second: number) => new Date(Date.parse('2026-01-01') + second * 1_000).toISOString();

const isOfNewest = (deployment: number, startedAt: number, now: number) =>
  isOfNewestDeployment(embedded.table, { deployment, startedAt: at(startedAt) }, at(now));

describe('a gateway of a deployment', () => {
  it('is replaced while a gateway of a later deployment renews its lease, and for 30 seconds after that', async () => {
    expect(await isOfNewest(1, 0, 0)).toBe(true);
    expect(await isOfNewest(2, 5, 10)).toBe(true);
    expect(await isOfNewest(2, 5, 20)).toBe(true);
    expect(await isOfNewest(1, 0, 20)).toBe(false);
    expect(await isOfNewest(1, 0, 50)).toBe(false);
    expect(await isOfNewest(1, 0, 51)).toBe(true);
  });

  it('is replaced by a rollback to an earlier revision, which renews the lease of all tasks of that revision', async () => {
    expect(await isOfNewest(2, 100, 100)).toBe(true);
    expect(await isOfNewest(1, 110, 120)).toBe(true);
    expect(await isOfNewest(2, 100, 120)).toBe(false);
    expect(await isOfNewest(1, 0, 149)).toBe(true);
    expect(await isOfNewest(2, 100, 151)).toBe(false);
    expect(await isOfNewest(1, 110, 151)).toBe(true);
  });
});
