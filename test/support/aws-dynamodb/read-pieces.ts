import type { Front } from './front.ts';
import { itemSize } from './item-size.ts';
import { maxPageBytes } from './quotas.ts';
import type { PageRequest, WireItem } from './wire.ts';

/** The highest number of items in the first piece. It doubles for each further piece. */
const largestFirstPiece = 8;

interface Pieces {
  items: WireItem[];
  lastKey?: WireItem | undefined;
}

/** Reads the items of one page, up to its Limit and to 1 MB, in pieces of random size with pauses between them. */
export async function readPieces(
  front: Front,
  operation: 'Query' | 'Scan',
  request: PageRequest,
  keyOf: (item: WireItem) => WireItem,
): Promise<Pieces> {
  const { engine, clock, random, durations } = front;
  const limit = request.Limit ?? Infinity;
  const items: WireItem[] = [];
  let size = 1 + Math.floor(random() * largestFirstPiece);
  let bytes = 0;
  let start = request.ExclusiveStartKey;
  for (;;) {
    const piece = await engine.call(operation, {
      ...request,
      Limit: Math.min(size, limit - items.length),
      ...(start && { ExclusiveStartKey: start }),
    });
    for (const item of piece.Items ?? []) {
      bytes += itemSize(item);
      const last = items.at(-1);
      if (bytes > maxPageBytes && last) return { items, lastKey: keyOf(last) };
      items.push(item);
    }
    if (!piece.LastEvaluatedKey || items.length >= limit) return { items, lastKey: piece.LastEvaluatedKey };
    start = piece.LastEvaluatedKey;
    size *= 2;
    if (durations.betweenReads > 0) await clock.wait(random() * durations.betweenReads);
  }
}
