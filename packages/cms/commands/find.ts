import { Option, type Command } from 'commander';
import type { Arguments } from 'computation-management-client';
import type { WrapAction } from '../context/context.ts';
import { table } from '../terminal/table.ts';
import { wholeNumber } from './options.ts';

export function addFindCommand(program: Command, wrapAction: WrapAction): void {
  program
    .command('find')
    .description('find computations, assets and CVMs by name, identifier or checksum')
    .argument('<QUERY>', 'the beginning of a name, of a word of it, or of an identifier; a checksum in full')
    .addOption(new Option('--kind <KIND>', 'only those of this kind').choices(['computation', 'asset', 'cvm']))
    .option('--limit <COUNT>', 'how many to list, at most 50', wholeNumber(1), 20)
    .action(
      wrapAction(async (context, q: string, options: Pick<Arguments<'find'>, 'kind' | 'limit'>) => {
        const { client } = await context.connect();
        const { matches } = await client.find({ q, ...options });
        const columns = [
          { title: 'kind', value: ({ kind }: (typeof matches)[number]) => kind },
          { title: 'id', value: ({ id }: (typeof matches)[number]) => id },
          { title: 'name', value: ({ name }: (typeof matches)[number]) => name, cuts: true },
        ];
        context.print({ items: matches }, () =>
          matches.length === 0 ? 'Nothing found.\n' : table(matches, columns, context.terminal),
        );
      }),
    );
}
