import { onTestFinished } from 'vitest';
import { Deadline } from '../../shared/runtime/deadline.ts';
import type { AnyKey } from '../../shared/table/keys.ts';
import { openTable } from '../../shared/table/table.ts';

/** Calls of the table that fail in this process until `isBroken` is false, or until the test ends. */
export interface FailingCalls {
  failures: number;
  isBroken: boolean;
}

interface Input {
  Item?: object;
  TransactItems?: object[];
  RequestItems?: Record<string, { Keys?: AnyKey[] }>;
}

/** Makes reads of an item together with others fail. */
export function failReadsOf(key: AnyKey): FailingCalls {
  return failCalls(({ RequestItems = {} }) => {
    const keys = Object.values(RequestItems).flatMap(({ Keys = [] }) => Keys);
    return keys.some(({ pk, sk }) => pk === key.pk && sk === key.sk);
  });
}

/** Makes writes fail whose items contain all of these texts. */
export function failWritesOf(...texts: string[]): FailingCalls {
  return failCalls(({ Item, TransactItems }) => {
    const written = JSON.stringify([Item, TransactItems]);
    return texts.every((text) => written.includes(text));
  });
}

function failCalls(isSelected: (input: Input) => boolean): FailingCalls {
  const calls = { failures: 0, isBroken: true };
  onTestFinished(() => {
    calls.isBroken = false;
  });
  openTable(() => new Deadline()).document.middlewareStack.add(
    (next) => (args) => {
      if (!calls.isBroken || !isSelected(args.input as Input)) return next(args);
      calls.failures++;
      throw new Error('The table is broken.');
    },
    { step: 'initialize' },
  );
  return calls;
}
