import { Option, type Command } from 'commander';
import type { Arguments, Schemas } from 'computation-management-client';
import { plainName } from 'computation-management-formats/quoted-name';
import type { WrapAction } from '../context/context.ts';
import { suggestion } from '../context/find-by-name.ts';
import { type Column, table } from '../terminal/table.ts';
import { given, wholeNumber } from './options.ts';

export function addFindCommand(program: Command, wrapAction: WrapAction): void {
  program
    .command('find')
    .description('find computations, assets and CVMs by name, identifier or checksum')
    .argument('<QUERY>', 'the beginning of a name, of a word of it, or of an identifier; a checksum in full')
    .addOption(new Option('--kind <KIND>', 'only those of this kind').choices(['computation', 'asset', 'cvm']))
    .option('--limit <COUNT>', 'how many to list, at most 50', wholeNumber(1), 20)
    .action(
      wrapAction(async (context, q: string, { kind, limit }: Pick<Arguments<'find'>, 'kind' | 'limit'>) => {
        const { client } = await context.connect();
        const { matches } = await client.find({ q, kind, limit });
        const columns: Column<Schemas['Match']>[] = [
          { title: 'kind', value: ({ kind }) => kind },
          { title: 'id', value: ({ id }) => id },
          { title: 'name', value: ({ name }) => plainName(name), cuts: true },
        ];
        const isNone = matches.length === 0 && !context.isJson;
        const near = isNone ? await suggestion(client, q, given({ kind })) : '';
        context.print({ items: matches }, () =>
          matches.length === 0 ? `Nothing found.${near}\n` : table(matches, columns, context.terminal),
        );
      }),
    );
}
