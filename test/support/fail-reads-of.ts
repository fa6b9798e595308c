import { Deadline } from '../../shared/deadline.ts';
import type { AnyKey } from '../../shared/table/keys.ts';
import { openTable } from '../../shared/table/open-table.ts';

/** Makes reads of an item together with others fail in this process as long as `isBroken` is true, and counts them. */
export function failReadsOf(key: AnyKey): { failures: number; isBroken: boolean } {
  const reads = { failures: 0, isBroken: true };
  openTable(() => new Deadline()).document.middlewareStack.add(
    (next) => (args) => {
      const { RequestItems = {} } = args.input as { RequestItems?: Record<string, { Keys?: AnyKey[] }> };
      const keys = Object.values(RequestItems).flatMap(({ Keys = [] }) => Keys);
      if (!reads.isBroken || !keys.some(({ pk, sk }) => pk === key.pk && sk === key.sk)) return next(args);
      reads.failures++;
      throw new Error('The table is broken.');
    },
    { step: 'initialize' },
  );
  return reads;
}
