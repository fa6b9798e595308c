/**
 * The operations in progress on each item. A transaction that writes holds its items: any other write of them, and any
 * transaction that reads them, is refused. All other operations enter and leave an item. A transaction that has taken hold of
 * the item waits until the operations that entered before have left.
 */
export interface ItemLocks {
  isHeld: (id: string) => boolean;
  isWritten: (id: string) => boolean;
  hold: (ids: string[]) => () => void;
  /** Registers a single write, or a transaction that reads, until the returned function is called. */
  enter: (ids: string[], does: 'read' | 'write') => () => void;
  /** Resolves when all operations that entered before have left. */
  untilFree: (ids: string[]) => Promise<void>;
}

interface Visit {
  ids: string[];
  does: 'read' | 'write';
  over: Promise<void>;
}

export function createItemLocks(): ItemLocks {
  const held = new Set<string>();
  const visits = new Set<Visit>();
  const visitsOf = (ids: string[]) => [...visits].filter((visit) => visit.ids.some((id) => ids.includes(id)));
  return {
    isHeld: (id) => held.has(id),
    isWritten: (id) => held.has(id) || visitsOf([id]).some(({ does }) => does === 'write'),
    hold: (ids) => {
      for (const id of ids) held.add(id);
      return () => {
        for (const id of ids) held.delete(id);
      };
    },
    enter: (ids, does) => {
      const { promise, resolve } = Promise.withResolvers<undefined>();
      const visit: Visit = { ids, does, over: promise };
      visits.add(visit);
      return () => {
        visits.delete(visit);
        resolve(undefined);
      };
    },
    untilFree: async (ids) => {
      await Promise.all(visitsOf(ids).map(({ over }) => over));
    },
  };
}
