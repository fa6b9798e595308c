import { AsyncLocalStorage } from 'node:async_hooks';
import { expect, vi } from 'vitest';
import { importHandler, type LoadHandler } from '../../local/functions/local-functions.ts';
import { openContentStore } from '../../shared/rows/content-store.ts';
import { openExecutions } from '../../shared/lifecycle/executions.ts';
import { replaceClient, keysInKms, openKms } from '../../shared/runtime/clients.ts';
import { Deadline } from '../../shared/runtime/deadline.ts';
import type { Key } from '../../shared/table/keys.ts';
import { openTable } from '../../shared/table/table.ts';
import { untilTestEnds } from './patience.ts';

/** Called in place of a call of KMS, with the name of its action, such as `Sign`, and the call itself. */
export type AroundCall = <Result>(action: string, call: () => Promise<Result>) => Promise<Result>;

/** Puts `around` before every call that this process makes to KMS. The functions' environment must be set. */
export function aroundKms(around: AroundCall): void {
  const real = openKms(() => new Deadline());
  replaceClient(keysInKms, () => ({
    publicKey: (...given) => around('GetPublicKey', () => real.publicKey(...given)),
    sign: (...given) => around('Sign', () => real.sign(...given)),
    signEd25519: (...given) => around('Sign', () => real.signEd25519(...given)),
    newDataKey: (...given) => around('GenerateDataKey', () => real.newDataKey(...given)),
    openDataKey: (...given) => around('Decrypt', () => real.openDataKey(...given)),
  }));
}

/** Records the AWS actions that each function calls, by their names in IAM. */
export interface RecordedCalls {
  load: LoadHandler;
  /** Starts recording. The functions' environment must be set. */
  listen: () => void;
  /** The actions of a function, such as `dynamodb:GetItem`, sorted. */
  actionsOf: (name: string) => string[];
  /** Says whether a function has changed members of a list, so that it may be its turn to fold the list's changes. */
  hasChangedLists: (name: string) => boolean;
  /** Stops a function before this action until it is released, as in a crash. With an error, the function fails there. */
  hold: (name: string, action: string) => Hold;
}

export interface Hold {
  reached: Promise<unknown>;
  letGo: (error?: Error) => void;
}

interface Held {
  name: string;
  action: string;
  reach: () => void;
  released: Promise<unknown>;
}

export function recordCalls(): RecordedCalls {
  const running = new AsyncLocalStorage<string>();
  const recorded = new Map<string, Set<string>>();
  const holds = new Set<Held>();
  const changers = new Set<string>();

  const record = async (actions: string[]): Promise<void> => {
    const name = running.getStore();
    if (name === undefined) return;
    const known = recorded.get(name) ?? new Set();
    recorded.set(name, known);
    for (const action of actions) known.add(action);
    for (const held of holds) {
      if (held.name !== name || !actions.includes(held.action)) continue;
      held.reach();
      await held.released;
    }
  };
  return {
    load: async (name) => {
      const handler = await importHandler(name);
      return (event, context) => running.run(name, () => handler(event, context));
    },
    listen: () => {
      openTable(() => new Deadline()).document.middlewareStack.add(
        (next, { commandName }) =>
          async (args) => {
            const name = running.getStore();
            if (name !== undefined && changesALog(args.input)) changers.add(name);
            await record(tableActions(String(commandName), args.input));
            return next(args);
          },
        { step: 'initialize' },
      );
      openExecutions(() => new Deadline()).client.middlewareStack.add(
        (next, { commandName }) =>
          async (args) => {
            await record([`states:${String(commandName).replace(/Command$/, '')}`]);
            return next(args);
          },
        { step: 'initialize' },
      );
      aroundKms(async (action, call) => {
        await record([`kms:${action}`]);
        return await call();
      });
      openContentStore(() => new Deadline()).client.middlewareStack.add(
        (next, { commandName }) =>
          async (args) => {
            await record([`s3:${String(commandName).replace(/Command$/, '')}`]); // also if it is only presigned
            return next(args);
          },
        { step: 'initialize' },
      );
    },
    actionsOf: (name) => [...(recorded.get(name) ?? [])].sort(),
    hasChangedLists: (name) => changers.has(name),
    hold: (name, action) => {
      const [reached, released] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
      const held = { name, action, reach: () => reached.resolve(undefined), released: released.promise };
      holds.add(held);
      return {
        reached: reached.promise,
        letGo: (error) => {
          holds.delete(held);
          if (error) released.reject(error);
          else released.resolve(undefined);
        },
      };
    },
  };
}

/** Returns whether a transaction adds to the log of a list index. */
function changesALog(input: object): boolean {
  const { TransactItems = [] } = input as { TransactItems?: { Update?: { Key: Partial<Key> } }[] };
  return TransactItems.some(({ Update }) => Update?.Key.pk?.startsWith('log#'));
}

const itemActions: Record<string, string> = {
  Put: 'PutItem',
  Update: 'UpdateItem',
  Delete: 'DeleteItem',
  ConditionCheck: 'ConditionCheckItem',
  Get: 'GetItem',
};

/** A transaction needs the permissions of its actions. */
export function tableActions(commandName: string, input: object): string[] {
  const name = commandName
    .replace(/Command$/, '')
    .replace(/^(Get|Put|Update|Delete)$/, '$1Item')
    .replace(/^Batch(Get|Write)$/, 'Batch$1Item');
  const { TransactItems } = input as { TransactItems?: object[] };
  const inside = (TransactItems ?? []).flatMap((item) => Object.keys(item).map((kind) => itemActions[kind] ?? kind));
  return (TransactItems ? inside : [name]).map((action) => `dynamodb:${action}`);
}

/** The functions of a stack with counts of their invocations, for `startStack({ load })`. */
export interface WatchedFunctions {
  load: LoadHandler;
  /** The number of invocations of this function that have started, and that have ended. */
  invocationsOf: (name: string) => { begun: number; ended: number };
  /** Waits until no function below this folder is running. Default: no function at all. */
  untilIdle: (folder?: string) => Promise<void>;
}

/** @param load loads the functions. Default: imports them from their files */
export function watchFunctions(load: LoadHandler = importHandler): WatchedFunctions {
  const watched = new Map<string, { begun: number; ended: number }>();
  const invocationsOf = (name: string) => {
    const invocations = watched.get(name) ?? { begun: 0, ended: 0 };
    watched.set(name, invocations);
    return invocations;
  };
  const underWay = (folder: string) =>
    [...watched].filter(([name, { begun, ended }]) => name.startsWith(folder) && begun > ended).map(([name]) => name);
  return {
    load: async (name) => {
      const handler = await load(name);
      return async (event, context) => {
        const invocations = invocationsOf(name);
        invocations.begun++;
        try {
          return await handler(event, context);
        } finally {
          invocations.ended++;
        }
      };
    },
    invocationsOf: (name) => ({ ...invocationsOf(name) }),
    untilIdle: (folder = '') => vi.waitFor(() => expect(underWay(folder)).toEqual([]), untilTestEnds),
  };
}
