import { describe, expect, it } from 'vitest';
import { isOfNewestDeployment } from '../../../shared/rows/gateway-lease.ts';
import { startEmbeddedTable } from '../../support/embedded-table.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';

const embedded = sharedByTests(startEmbeddedTable);
const at = (second: number) => new Date(Date.parse('2026-01-01') + second * 1_000).toISOString();

describe('a gateway of a deployment', () => {
  it('is replaced while a gateway of a later deployment renews its lease, and for 30 seconds after that', async () => {
    const { table } = embedded;
    expect(await isOfNewestDeployment(table, 1, at(0))).toBe(true);
    expect(await isOfNewestDeployment(table, 2, at(10))).toBe(true);
    expect(await isOfNewestDeployment(table, 2, at(20))).toBe(true);
    expect(await isOfNewestDeployment(table, 1, at(20))).toBe(false);
    expect(await isOfNewestDeployment(table, 1, at(50))).toBe(false);
    expect(await isOfNewestDeployment(table, 1, at(51))).toBe(true);
  });
});
