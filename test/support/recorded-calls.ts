import { AsyncLocalStorage } from 'node:async_hooks';
import { Deadline } from '../../shared/runtime/deadline.ts';
import { importHandler, type LoadHandler } from '../../local/functions/local-functions.ts';
import { openContentStore } from '../../shared/assets/content-store.ts';
import { aroundKms } from './around-kms.ts';
import { openExecutions } from '../../shared/runs/executions.ts';
import type { Key } from '../../shared/table/keys.ts';
import { openTable } from '../../shared/table/open-table.ts';

/** Records the AWS actions that each function calls, by their names in IAM. */
export interface RecordedCalls {
  load: LoadHandler;
  /** Starts recording. The functions' environment must be set. */
  listen: () => void;
  /** The actions of a function, such as `dynamodb:GetItem`, sorted. */
  actionsOf: (name: string) => string[];
  /** Whether a function has changed members of a list, so that it may be its turn to fold the list's changes. */
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
