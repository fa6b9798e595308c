import type { MeasuredChange } from './changes.ts';
import { rareStatus } from './fill.ts';
import type { Measurement } from './pages.ts';

export interface Verdict {
  what: string;
  holds: boolean;
}

interface Bounds {
  calls: number;
  units: number;
  /** Times the processor time of what it is compared with. */
  cpu?: number;
}

/** From this size on, pages may take one call more. */
const huge = 50_000_000;

/** The bounds of the design (docs/adr/0001-lists.md). */
export function verdicts(
  pages: readonly Measurement[],
  changes: readonly MeasuredChange[],
  quiet: number | undefined,
): Verdict[] {
  const sizes = [...new Set(pages.map(({ size }) => size))];
  const ofQuiet = { what: `one create a minute: ${quiet} write units for folding (at most 5)`, holds: (quiet ?? 0) <= 5 };
  return [
    ...sizes.flatMap((size) => ofSize(pages, size, Math.min(...sizes))),
    ...changes.map(ofChange),
    ...(quiet === undefined ? [] : [ofQuiet]),
  ];
}

function ofSize(pages: readonly Measurement[], size: number, shortest: number): Verdict[] {
  const find = (what: string, offset = 0, of = size) =>
    pages.find((each) => each.size === of && each.what === what && each.offset === offset);
  const more = size >= huge ? 1 : 0;
  const found: Verdict[] = [];
  for (const what of ['all', 'completed']) {
    const base = find(what, 0, shortest);
    found.push(...check(`first page of ${name(size)}, ${what}`, find(what), { calls: 1 + more, units: 8, cpu: 1.5 }, base));
  }
  found.push(...check(`first page of ${name(size)}, 1 in 1,000`, find(rareStatus), { calls: 3 + more, units: 30 }));
  found.push(...check(`statistics of ${name(size)}`, find('statistics'), { calls: 1, units: 12 }));
  for (const page of pages.filter((each) => each.size === size && each.what === 'all' && each.offset > 5_000)) {
    const bounds = { calls: 4 + more, units: 20, cpu: 1.5 };
    found.push(...check(`offset ${name(page.offset)} of ${name(size)}`, page, bounds, find('all', 5_000)));
  }
  const empty = find('empty domain');
  if (empty) {
    const bounds = { calls: 1, units: empty.readUnits + 2 };
    found.push(...check(`first page after ${name(size)} were deleted`, find('all deleted'), bounds));
  }
  return found;
}

function check(what: string, page: Measurement | undefined, bounds: Bounds, base?: Measurement): Verdict[] {
  if (!page) return [];
  const ratio = bounds.cpu === undefined || !base ? 0 : page.cpu / base.cpu;
  const holds = page.sequentialCalls <= bounds.calls && page.readUnits <= bounds.units && ratio <= (bounds.cpu ?? 0);
  const units = `${page.sequentialCalls} calls in a row (at most ${bounds.calls}), ${page.readUnits} read units (at most ${bounds.units})`;
  const compared = ratio === 0 ? '' : `, ${ratio.toFixed(2)} times the processor time (at most ${bounds.cpu ?? 0})`;
  return [{ what: `${what}: ${units}${compared}`, holds }];
}

/** With the lists of owners. */
const mostUnits = { create: 12.4, other: 12.6, anywhere: 14.6 };

function ofChange({ change, where, size, writeUnits }: MeasuredChange): Verdict {
  const most = mostUnits[change === 'create' ? 'create' : where === 'anywhere' ? 'anywhere' : 'other'];
  return {
    what: `${change} of ${name(size)} computations, ${where}: ${writeUnits} write units (at most ${most})`,
    holds: writeUnits <= most,
  };
}

function name(count: number): string {
  return count.toLocaleString('en');
}
