import { type Deadline, untilAborted } from '../runtime/deadline.ts';
import { deadlineOf, type Table } from './table.ts';

const maxWaitInMilliseconds = 250;

interface SharedRead<T> {
  result: Promise<T>;
  /** The read of the requests that came since this one began. */
  next?: NextRead<T>;
}

interface NextRead<T> {
  read: () => Promise<T>;
  deadline: Deadline;
  result: Promise<T>;
}

/**
 * While a read is under way, requests for the same wait for its end and share the next one, so it contains what was acknowledged
 * before. A request that comes alone does not wait.
 */
export class SharedReads<T> {
  /** The read that began last, by the client of the table and by name. */
  private readonly ofClients = new WeakMap<object, Map<string, SharedRead<T>>>();

  /**
   * @param what names what is read from the table
   * @param read the request with the most time left calls it
   * @returns what the others have, too: nobody may change it
   * @throws what `read` throws; TimeoutError at the request's deadline
   */
  share(table: Table, what: string, read: () => Promise<T>): Promise<T> {
    const reads = this.ofClients.get(table.document) ?? new Map<string, SharedRead<T>>();
    this.ofClients.set(table.document, reads);
    const name = `${table.name} ${what}`;
    const latest = reads.get(name);
    if (!latest) return begin(reads, name, read);
    const deadline = deadlineOf(table);
    latest.next ??= nextAfter(latest.result, { reads, name, read, deadline });
    if (deadline.remaining > latest.next.deadline.remaining) Object.assign(latest.next, { read, deadline });
    return untilAborted(latest.next.result, deadline.signal());
  }
}

type Reads<T> = Map<string, SharedRead<T>>;

async function begin<T>(reads: Reads<T>, name: string, read: () => Promise<T>): Promise<T> {
  const own: SharedRead<T> = { result: call(read) };
  reads.set(name, own);
  try {
    return await own.result;
  } finally {
    if (reads.get(name) === own && !own.next) reads.delete(name);
  }
}

/** Makes a read that throws at once one that fails. */
async function call<T>(read: () => Promise<T>): Promise<T> {
  return await read();
}

function nextAfter<T>(
  earlier: Promise<unknown>,
  { reads, name, read, deadline }: { reads: Reads<T>; name: string; read: () => Promise<T>; deadline: Deadline },
): NextRead<T> {
  const result = ended(earlier).then(() => begin(reads, name, next.read));
  const next: NextRead<T> = { read, deadline, result };
  return next;
}

function ended(read: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, maxWaitInMilliseconds);
    const end = () => {
      clearTimeout(timer);
      resolve();
    };
    read.then(end, end);
  });
}
