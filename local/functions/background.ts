import type { TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import { pause } from 'computation-management-client';
import { listOfEntry } from 'computation-management-counted-list';
import type { InvokeFunction } from './local-functions.ts';
import { type Clock, systemClock, type TimerClock } from '../../shared/runtime/deadline.ts';
import { isWaitingEntry } from '../../shared/history/index.ts';
import { type AnyKey, rowAt } from '../../shared/table/keys.ts';
import type { TableClient } from '../../shared/table/table.ts';

/** An invoker of functions that does not make the caller wait. */
export interface Background {
  /** Invokes a function as Lambda does for an event: up to two retries, then a line on standard error. */
  invoke: (name: string, event: unknown) => void;
  /**
   * Invokes a function again and again, with the given number of minutes in between. Skips a turn while the previous invocation
   * is running.
   */
  every: (minutes: number, name: string) => void;
  /** Starts no more invocations, and waits for the running invocations to end. */
  stop: () => Promise<void>;
}

const pausesInMilliseconds = [1_000, 5_000];

export function startBackground(invoke: InvokeFunction, clock: TimerClock): Background {
  const running = new Set<Promise<void>>();
  const cancels = new Map<string, () => void>();
  const stopping = new AbortController();

  const attempt = async (name: string, event: unknown, pauses: number[]): Promise<void> => {
    if (stopping.signal.aborted) return;
    try {
      await invoke(name, event);
    } catch (error) {
      const [first, ...others] = pauses;
      if (first === undefined) {
        process.stderr.write(`${name} failed: ${String(error)}\n`);
        return;
      }
      await pause(first, stopping.signal, clock.setTimer).catch(() => undefined);
      await attempt(name, event, others);
    }
  };
  const start = (name: string, event: unknown): Promise<void> => {
    const run = attempt(name, event, pausesInMilliseconds).finally(() => running.delete(run));
    running.add(run);
    return run;
  };

  return {
    invoke: (name, event) => void start(name, event),
    every: (minutes, name) => {
      let isRunning = false;
      const turn = () => {
        schedule();
        if (isRunning) return;
        isRunning = true;
        void start(name, {}).finally(() => {
          isRunning = false;
        });
      };
      const schedule = () => cancels.set(name, clock.setTimer(minutes * 60_000, turn));
      schedule();
    },
    stop: async () => {
      stopping.abort();
      for (const cancel of cancels.values()) cancel();
      await Promise.all(running);
    },
  };
}

/**
 * The longest time in milliseconds that a start of the service waits for interrupted deletions, which may take minutes. The
 * deletions then continue in the background.
 */
const longestWaitInMilliseconds = 10_000;

interface ContinueOptions {
  invoke: InvokeFunction;
  background: Background;
  clock: TimerClock;
  onStop: (stop: () => Promise<void>) => void;
}

/**
 * Continues the runs and deletions that were interrupted when the service last ended.
 * @throws Error that names the runs that cannot go on
 */
export async function continueInterrupted({ invoke, background, clock, onStop }: ContinueOptions): Promise<void> {
  await resumeRuns(invoke);
  const deletions = continueDeletions(invoke, background);
  onStop(() => deletions);
  const waiting = new AbortController();
  await Promise.race([deletions, pause(longestWaitInMilliseconds, waiting.signal, clock.setTimer)]);
  waiting.abort();
}

/** Resumes the active runs after a start of the service. Ends runs whose outcome was already known. */
async function resumeRuns(invoke: InvokeFunction): Promise<void> {
  try {
    await invoke('lifecycle/sweep-runs', { grace_in_seconds: 0, most_calls: Number.MAX_SAFE_INTEGER, resumes: true });
  } catch (error) {
    const reasons = error instanceof AggregateError ? error.errors.map(String).join(' ') : String(error);
    throw new Error(`Cannot resume the interrupted runs: ${reasons}`, { cause: error });
  }
}

/**
 * Continues the interrupted deletions at a start of the service, so that an instance that keeps dying gets to them. A deletion
 * that fails does not prevent the start: it is retried in the background.
 */
async function continueDeletions(invoke: InvokeFunction, background: Background): Promise<void> {
  const names = ['maintenance/purge', 'maintenance/collect-content'];
  await Promise.all(names.map((name) => invoke(name, {}).catch(() => background.invoke(name, {}))));
}

/**
 * The time in milliseconds that a batch of changed keys waits for further ones, as on AWS, before the function that follows the
 * table's stream is called.
 */
const batchingInMilliseconds = 1_000;
/** The time in milliseconds that rows with names wait at most: a person may look for them, or for what waits, right away. */
const batchingOfNamesInMilliseconds = 200;

/** The most keys in one call of the function that follows the table's stream. AWS has the same limit. */
const mostNames = 1_000;
/**
 * The names of the batches in which named rows wait to be indexed, one for each attempt. On AWS too, a call that fails is retried
 * five times.
 */
const attempts = [1, 2, 3, 4, 5, 6].map((attempt) => `names ${attempt}`);
const [names = ''] = attempts;

/** The follower of a table on one machine. */
export interface Follower {
  /** Ends the calls, and waits for those at work. */
  stop: () => Promise<void>;
  /** Treats a row as changed, so that it is followed although no change of it was seen. */
  follow: (row: AnyKey) => void;
  /** Returns the time in milliseconds since 1970 until which all changes of rows with names have been followed. */
  followedUntil: () => number;
}

/**
 * Calls the function that follows the table's stream, in place of a stream: for each list with a change, and for all changed rows
 * with names together. A call starts within a second after the change, and not while an earlier call for the same batch is at
 * work.
 */
export function followTable(
  document: Pick<TableClient, 'middlewareStack'>,
  invoke: InvokeFunction,
  clock: Clock = systemClock,
): Follower {
  const waiting = new Map<string, Map<string, AnyKey>>();
  const running = new Map<string, Promise<unknown>>();
  /** The times of the oldest changes that wait and that are being followed, by the name of their batch. */
  const oldest = new Map<string, number>();
  const oldestRunning = new Map<string, number>();
  let isStopped = false;
  const start = (what: string, batch: [string, AnyKey][]) => {
    const Records = batch.map(([, { pk, sk }]) => ({ dynamodb: { Keys: { pk: { S: pk }, sk: { S: sk } } } }));
    // The schedule folds a list that is not folded now. Nothing else would index a name, before it changes again.
    const next = attempts.includes(what) && attempts[attempts.indexOf(what) + 1];
    const since = oldest.get(what) ?? 0;
    oldestRunning.set(what, since);
    if (!waiting.has(what)) oldest.delete(what);
    const call = invoke('maintenance/follow-table', { Records }).catch(() => {
      if (next) for (const [name, key] of batch) add(next, name, key, since);
    });
    running.set(
      what,
      call.finally(() => {
        running.delete(what);
        oldestRunning.delete(what);
      }),
    );
  };
  const startWaiting = (mayStart: (what: string) => boolean = () => true) => {
    for (const [what, keys] of waiting) {
      if (running.has(what) || !mayStart(what)) continue;
      const batch = [...keys].slice(0, mostNames);
      for (const [name] of batch) keys.delete(name);
      if (keys.size === 0) waiting.delete(what);
      start(what, batch);
    }
  };
  const add = (what: string, name: string, key: AnyKey, since = clock.now()) => {
    waiting.set(what, (waiting.get(what) ?? new Map<string, AnyKey>()).set(name, key));
    oldest.set(what, Math.min(since, oldest.get(what) ?? since));
  };
  const timers = [
    setInterval(() => startWaiting(), batchingInMilliseconds),
    setInterval(() => startWaiting((what) => what === names), batchingOfNamesInMilliseconds),
  ];
  onTransaction(document, 'followTable', (keys) => {
    for (const key of isStopped ? [] : keys) {
      const list = listOfEntry(key);
      if (list !== undefined) add(`list ${list}`, list, key);
      else if (rowAt(key)) add(names, `${key.pk} ${key.sk}`, key);
    }
  });
  const stop = async () => {
    isStopped = true;
    for (const timer of timers) clearInterval(timer);
    do {
      await Promise.all(running.values());
      startWaiting(); // nothing else would index a name
    } while (running.size > 0);
  };
  const timesOfNames = () => attempts.flatMap((what) => [oldest.get(what) ?? Infinity, oldestRunning.get(what) ?? Infinity]);
  return {
    stop,
    follow: (row) => add(names, `${row.pk} ${row.sk}`, row, 0),
    followedUntil: () => Math.min(clock.now(), ...timesOfNames()),
  };
}

/**
 * Has each entry of the log that a transaction writes integrated at once, and all that came meanwhile together after that. The
 * schedule does what fails.
 * @returns a function that waits for the integration at work
 */
export function followLog(document: Pick<TableClient, 'middlewareStack'>, invoke: InvokeFunction): () => Promise<void> {
  let running: Promise<void> | undefined;
  let isTold = false;
  const integrate = async () => {
    while (isTold) {
      isTold = false;
      await invoke('maintenance/integrate-log', {}).catch(() => undefined); // it has logged why
    }
    running = undefined;
  };
  onTransaction(document, 'followLog', (keys) => {
    if (!keys.some(isWaitingEntry)) return;
    isTold = true;
    running ??= integrate();
  });
  return async () => await running;
}

/** Calls `follow` with the keys that each transaction of a client has written. @param name under which the client knows the follower */
function onTransaction(document: Pick<TableClient, 'middlewareStack'>, name: string, follow: (keys: AnyKey[]) => void): void {
  document.middlewareStack.add(
    (next, { commandName }) =>
      async (call) => {
        const answer = await next(call);
        if (String(commandName).startsWith('TransactWrite')) follow(keysIn(call.input as TransactWriteCommandInput));
        return answer;
      },
    { name, override: true, step: 'initialize', priority: 'high' },
  );
}

/** Returns the keys of the rows that a transaction writes. */
export function keysIn({ TransactItems = [] }: TransactWriteCommandInput): AnyKey[] {
  return TransactItems.flatMap(({ Put, Update, Delete }) => {
    const key = Put?.Item ?? Update?.Key ?? Delete?.Key;
    return key ? [{ pk: String(key['pk']), sk: String(key['sk']) }] : [];
  });
}
