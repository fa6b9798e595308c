import type { Table } from './table.ts';

interface SharedReads {
  underWay: Promise<unknown>;
  /** What those share who came after that began. */
  next?: { read: () => Promise<unknown>; result: Promise<unknown> };
}

/** By the client of the table, and by name. */
const ofClients = new WeakMap<object, Map<string, SharedReads>>();

/**
 * Reads, or shares a read with others who ask for the same at the same time. While a read is under way, all who come wait for its
 * end and share the next one, so a read always begins after everyone who shares it has come: it contains what was acknowledged before.
 * In a process that serves one request at a time, nothing waits or is shared.
 * @param what names what is read. Reads of the same name return the same
 * @param read the one of the last who came is called: that request has the latest deadline
 * @returns what nobody may change, because others use it too
 */
export function shareRead<T>({ document, name }: Table, what: string, read: () => Promise<T>): Promise<T> {
  const reads = ofClients.get(document) ?? new Map<string, SharedReads>();
  ofClients.set(document, reads);
  return share(reads, `${name}\n${what}`, read);
}

function share<T>(reads: Map<string, SharedReads>, name: string, read: () => Promise<T>): Promise<T> {
  const shared = reads.get(name);
  if (!shared) return begin(reads, name, read);
  if (shared.next) {
    shared.next.read = read;
    return shared.next.result as Promise<T>;
  }
  const beginNext = () => begin(reads, name, (shared.next?.read ?? read) as () => Promise<T>);
  const result = shared.underWay.then(beginNext, beginNext);
  shared.next = { read, result };
  return result;
}

function begin<T>(reads: Map<string, SharedReads>, name: string, read: () => Promise<T>): Promise<T> {
  const underWay = read();
  const shared: SharedReads = { underWay };
  reads.set(name, shared);
  const end = () => {
    if (!shared.next) reads.delete(name);
  };
  underWay.then(end, end);
  return underWay;
}
