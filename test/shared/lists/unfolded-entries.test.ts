import { describe, expect, it } from 'vitest';
import { bytesToName, encodeHead, emptyHead, type Fold } from '../../../shared/lists/head.ts';
import { lastVersion, type LogEntry, type Step } from '../../../shared/lists/log.ts';
import { partToFold, versionsOf } from '../../../shared/lists/unfolded-entries.ts';

const change = { list: 'c', number: 1, before: 0, now: 1 };
const entryOf = (name: string, step: Partial<Step> = {}): LogEntry => ({
  log: 'log',
  name,
  steps: [{ version: 1, changes: [change], ...step }],
});
const entries = (count: number, prefix = ''): LogEntry[] =>
  Array.from({ length: count }, (_, at) => entryOf(prefix + (at + 46_656).toString(36)));
const namesOf = (part: readonly LogEntry[]) => part.map(({ name }) => name);

/** Folds part after part, none of which is cleared meanwhile. */
function foldAll(unfolded: LogEntry[]): { folds: Fold[]; left: LogEntry[] } {
  const folds: Fold[] = [];
  for (let left = unfolded; ;) {
    const part = partToFold(left, folds);
    if (part.length === 0) return { folds, left };
    folds.push({ name: String(folds.length), stage: 'committed', at: 0, entries: versionsOf(part) });
    const taken = new Set(part);
    left = left.filter((entry) => !taken.has(entry));
  }
}

describe('partToFold', () => {
  it('takes all of a short log', () => {
    expect(partToFold(entries(2_000), [])).toHaveLength(2_000);
    expect(partToFold([], [])).toEqual([]);
  });

  it('takes 2,000 changes of a longer one, and an entry that has more by itself', () => {
    expect(partToFold(entries(2_001), [])).toHaveLength(2_000);
    const long = entryOf('1', { changes: Array.from({ length: 2_500 }, () => change) });
    expect(namesOf(partToFold([long, ...entries(5)], []))).toEqual(['1']);
  });

  it('stops when the names in the head take 200 KB, even if changes are left', () => {
    const { folds, left } = foldAll(entries(25_000, 'run-'));
    expect(left.length).toBeGreaterThan(4_000);
    const bytes = folds.reduce((sum, fold) => sum + bytesToName(fold.entries), 0);
    expect(bytes).toBeGreaterThan(199_900);
    expect(bytes).toBeLessThanOrEqual(200_000);
    const encoded = encodeHead({ ...emptyHead, folds })['folds'] as { entries: Uint8Array }[];
    expect(encoded.reduce((sum, fold) => sum + fold.entries.length, 0)).toBe(bytes);
    const [first, ...others] = folds;
    expect(partToFold(left, others)).toHaveLength(first?.entries.size ?? 0);
  });

  it('takes an entry only together with or after the entry that it depends on', () => {
    const after = { name: 'zz', version: 1 };
    const runs = entries(2_500, 'run-').map((entry) => entryOf(entry.name, { version: lastVersion, after }));
    const part = partToFold([...runs, entryOf('zz')], []);
    expect(part).toHaveLength(2_000);
    expect(namesOf(part).slice(0, 2)).toEqual(['zz', runs[0]?.name]);
  });
});
