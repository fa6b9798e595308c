import { describe, expect, it } from 'vitest';
import { assetsOfRun } from '../../../shared/runs/snapshot.ts';

describe('assetsOfRun', () => {
  it('is empty for a run without a snapshot, which was deleted or is of an earlier version', () => {
    expect(assetsOfRun(undefined)).toEqual([]);
  });
});
