import type { Command } from 'commander';
import { page, pages, type Item, type ListOperation } from '../../pages.ts';
import type { OptionalIfEmpty, Arguments } from '../../operation.ts';
import type { Context } from '../context.ts';
import { table, type Column } from '../output/table.ts';
import { positiveNumber } from './options.ts';

const largestPage = 100;

export interface ListOptions {
  limit: number;
  offset?: number;
  all?: boolean;
}

export function addListOptions(command: Command): Command {
  return command
    .option('--limit <COUNT>', 'how many to list', positiveNumber, 20)
    .option('--offset <COUNT>', 'how many to skip', positiveNumber)
    .option('--all', 'list all');
}

/**
 * Prints a list as a table, with a note if there are more. With `--json`, as `{items, total}`.
 * @param first the command, without `cms`, that adds the first entry, for a list that has none at all
 */
export async function listOf<O extends ListOperation>(
  context: Context,
  operation: O,
  filter: object,
  { limit, offset = 0, all = false }: ListOptions,
  columns: readonly Column<Item<O>>[],
  first?: string,
): Promise<void> {
  const { client } = await context.connect();
  const at = (given: object) => [{ ...filter, ...given }] as unknown as OptionalIfEmpty<Arguments<O>>;
  const found = all || limit > largestPage ? await manyOf() : await page(client, operation, ...at({ limit, offset }));
  const { items: listed, total } = found;
  context.print({ items: listed, total }, () =>
    listed.length === 0 ? 'Nothing found.\n' : table(listed, columns, context.terminal),
  );
  if (total === 0 && Object.keys(filter).length === 0 && first !== undefined) context.note(`Next: ${context.command(first)}\n`);
  const left = total - offset - listed.length;
  if (left > 0) context.note(`${left} more. List them with --offset ${offset + listed.length}, or all with --all.\n`);

  async function manyOf() {
    const listed: Item<O>[] = [];
    for await (const each of pages(client, operation, ...at({ offset }))) {
      listed.push(...each.items);
      if (!all && listed.length >= limit) return { items: listed.slice(0, limit), total: each.total };
    }
    return { items: listed, total: offset + listed.length };
  }
}
