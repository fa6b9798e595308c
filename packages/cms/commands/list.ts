import { type Arguments, type Item, type ListOperation, type OptionalIfEmpty, pages } from 'computation-management-client';
import type { Context, Session } from '../context/context.ts';
import { type Column, table } from '../terminal/table.ts';
import { csvOf } from '../terminal/text.ts';

const largestPage = 100;

export interface ListOptions {
  limit: number;
  offset?: number;
  all?: boolean;
  csv?: boolean;
}

interface Listing<O extends ListOperation> {
  filter: object;
  options: ListOptions;
  /** The columns of the table, or a function that returns them for the entries. */
  columns: readonly Column<Item<O>>[] | ((listed: Item<O>[], client: Session['client']) => Promise<readonly Column<Item<O>>[]>);
  /** The command, without `cms`, that adds the first entry of the list. Printed for a list that has no entry at all. */
  first?: string;
  /** The note to print if no entry matches the filter. */
  hint?: string | undefined;
}

/**
 * Prints a list of the service as a table, with a note if the list has more entries. With `--json`, as `{items, total}`; with `--csv`, as
 * CSV.
 */
export async function listOf<O extends ListOperation>(
  context: Context,
  operation: O,
  { filter, options, columns, first, hint }: Listing<O>,
): Promise<void> {
  const { client } = await context.connect();
  const { limit, offset = 0, all = false } = options;
  const at = { ...filter, offset, limit: all ? largestPage : Math.min(limit, largestPage) };
  const listed: Item<O>[] = [];
  let total = 0;
  for await (const each of pages(client, operation, ...([at] as unknown as OptionalIfEmpty<Arguments<O>>))) {
    listed.push(...each.items.slice(0, all ? undefined : limit - listed.length));
    ({ total } = each);
    if (!all && listed.length >= limit) break;
  }
  const isTable = !context.isJson && options.csv !== true;
  const shown = typeof columns !== 'function' ? columns : isTable ? await columns(listed, client) : [];
  if (options.csv === true) context.terminal.out(csvOf(listed, context.terminal.columns !== undefined));
  else {
    context.print({ items: listed, total }, () =>
      listed.length === 0 ? 'Nothing found.\n' : table(listed, shown, context.terminal),
    );
  }
  if (total === 0 && Object.keys(filter).length === 0 && first !== undefined) context.note(`Next: ${context.command(first)}\n`);
  if (total === 0 && hint !== undefined) context.note(hint);
  const next = offset + listed.length;
  if (total > next) context.note(`${total - next} more. List them with --offset ${next}, or all with --all.\n`);
}
