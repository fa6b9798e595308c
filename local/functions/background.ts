import type { TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import { pause } from 'computation-management-client';
import { listOfEntry } from 'computation-management-counted-list';
import type { InvokeFunction } from './local-functions.ts';
import type { TimerClock } from '../../shared/runtime/deadline.ts';
import { namedRowAt } from '../../shared/find/index.ts';
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
      const schedule = () => {
        cancels.set(name, clock.setTimer(minutes * 60_000, turn));
      };
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

interface Key {
  pk: string;
  sk: string;
}

/** The most keys in one call of the function that follows the table's stream. AWS has the same limit. */
const mostNames = 1_000;
/**
 * The names of the batches in which named rows wait to be indexed, one for each attempt. On AWS too, a call that fails is retried
 * five times.
 */
const attempts = [1, 2, 3, 4, 5, 6].map((attempt) => `names ${attempt}`);
const [names = ''] = attempts;

/**
 * Calls the function that follows the table's stream, in place of a stream: for each list with a change, and for all changed rows
 * with names together. A call starts within a second after the change, and not while an earlier call for the same batch is at
 * work.
 * @returns a function that ends the calls and waits for those at work
 */
export function followTable(document: Pick<TableClient, 'middlewareStack'>, invoke: InvokeFunction): () => Promise<void> {
  const waiting = new Map<string, Map<string, Key>>();
  const running = new Map<string, Promise<unknown>>();
  let isStopped = false;
  const start = (what: string, batch: [string, Key][]) => {
    const Records = batch.map(([, { pk, sk }]) => ({ dynamodb: { Keys: { pk: { S: pk }, sk: { S: sk } } } }));
    // The schedule folds a list that is not folded now. Nothing else would index a name, before it changes again.
    const next = attempts.includes(what) && attempts[attempts.indexOf(what) + 1];
    const call = invoke('maintenance/follow-table', { Records }).catch(() => {
      if (next) for (const [name, key] of batch) add(next, name, key);
    });
    running.set(
      what,
      call.finally(() => running.delete(what)),
    );
  };
  const startWaiting = () => {
    for (const [what, keys] of waiting) {
      if (running.has(what)) continue;
      const batch = [...keys].slice(0, mostNames);
      for (const [name] of batch) keys.delete(name);
      if (keys.size === 0) waiting.delete(what);
      start(what, batch);
    }
  };
  const add = (what: string, name: string, key: Key) =>
    waiting.set(what, (waiting.get(what) ?? new Map<string, Key>()).set(name, key));
  const timer = setInterval(startWaiting, batchingInMilliseconds);
  document.middlewareStack.add(
    (next, { commandName }) =>
      async (call) => {
        const answer = await next(call);
        if (String(commandName).startsWith('TransactWrite') && !isStopped) {
          for (const key of keysIn(call.input as TransactWriteCommandInput)) {
            const list = listOfEntry(key);
            if (list !== undefined) add(`list ${list}`, list, key);
            else if (namedRowAt(key)) add(names, `${key.pk} ${key.sk}`, key);
          }
        }
        return answer;
      },
    { name: 'followTable', override: true, step: 'initialize', priority: 'high' },
  );
  return async () => {
    isStopped = true;
    clearInterval(timer);
    do {
      await Promise.all(running.values());
      startWaiting(); // nothing else would index a name
    } while (running.size > 0);
  };
}

function keysIn({ TransactItems = [] }: TransactWriteCommandInput): Key[] {
  return TransactItems.flatMap(({ Put, Update, Delete }) => {
    const key = Put?.Item ?? Update?.Key ?? Delete?.Key;
    return key ? [{ pk: String(key['pk']), sk: String(key['sk']) }] : [];
  });
}
