import type { Table } from '../../shared/table/table.ts';
import { tableThrough } from './embedded-table.ts';

/** Work whose calls to the table are let through one at a time. */
export interface Stepped<T> {
  /** Lets the next `count` calls through, one after another. Fewer if the work ends before. */
  step: (count: number) => Promise<void>;
  /** Lets all calls through from now on, and returns what the work returned or threw. */
  finish: () => Promise<T | Error>;
  /** Lets no call through any more, like a process that died. The next call takes effect without an answer if it is so wished. */
  die: (takesEffect: boolean) => Promise<void>;
  /** The calls that were let through. */
  calls: () => number;
}

interface Waiting {
  send: () => Promise<unknown>;
  letThrough: (answer: Promise<unknown>) => void;
}

/** Begins work on the table, which waits at its first call. */
export function stepThrough<T>(table: Table, work: (table: Table) => Promise<T>): Stepped<T> {
  const waiting: Waiting[] = [];
  let arrival = Promise.withResolvers<undefined>();
  let calls = 0;
  let isOver = false;
  let isFree = false;
  const stepped = tableThrough(table, (send) => {
    if (isFree) return send();
    return new Promise((resolve) => {
      waiting.push({ send, letThrough: resolve });
      arrival.resolve(undefined);
    });
  });
  const result = work(stepped).catch((error: unknown) => error as Error);
  const end = result.then(() => {
    isOver = true;
  });
  const nextCall = async (): Promise<Waiting | undefined> => {
    while (waiting.length === 0 && !isOver) {
      arrival = Promise.withResolvers();
      await Promise.race([arrival.promise, end]);
    }
    return waiting.shift();
  };
  const step = async (count: number) => {
    for (let left = count; left > 0; left--) {
      const call = await nextCall();
      if (!call) return;
      calls += 1;
      const answer = call.send();
      call.letThrough(answer);
      await answer.catch(() => undefined);
    }
  };
  return {
    step,
    finish: async () => {
      isFree = true;
      for (const { send, letThrough } of waiting.splice(0)) letThrough(send());
      return await result;
    },
    die: async (takesEffect) => {
      const call = takesEffect ? await nextCall() : undefined;
      await call?.send().catch(() => undefined);
    },
    calls: () => calls,
  };
}
