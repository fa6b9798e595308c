import type { Arguments, Schemas } from 'computation-management-client';
import { plainName } from 'computation-management-formats/quoted-name';
import { userText } from 'computation-management-words';
import { suggestion } from '../context/find-by-name.ts';
import { type Column, table } from '../terminal/table.ts';
import { type CmsCommand, given, wholeNumber } from './options.ts';

export function addFindCommand(program: CmsCommand): void {
  program
    .subcommand('find', 'find computations, assets and CVMs by name, identifier or checksum')
    .argument('<QUERY>', 'words of the name or their beginnings, the beginning of an identifier, or a checksum in full')
    .choice('--kind <KIND>', 'only those of this kind', ['computation', 'asset', 'cvm'])
    .option('--owner <USER>', 'only what this user owns or has created')
    .option('--limit <COUNT>', 'how many to list, at most 50', wholeNumber(1), 20)
    .connected(async (context, q: string, { kind, owner, limit }: Pick<Arguments<'find'>, 'kind' | 'owner' | 'limit'>) => {
      const { client } = context;
      const { matches, truncated } = await client.find({ q, kind, owner, limit });
      const columns: Column<Schemas['Match']>[] = [
        { title: 'kind', value: ({ kind }) => kind },
        { title: 'id', value: ({ id }) => id },
        { title: 'owner', value: ({ owner }) => (owner === null ? '' : userText(owner)) },
        { title: 'name', value: ({ name }) => plainName(name), cuts: true },
      ];
      const isNone = matches.length === 0 && !context.isJson;
      const near = isNone ? await suggestion(client, q, given({ kind })) : '';
      context.print({ items: matches, truncated }, () =>
        matches.length === 0 ? `Nothing found.${near}\n` : table(matches, columns, context.terminal),
      );
      if (isNone) {
        const how = 'Each word must begin a word of the name. An identifier needs at least its first 18 characters.';
        context.note(`${how}\nNext: ${context.command(`${kind ?? 'computation'} list`)}\n`);
      }
      if (truncated) context.note('There may be more. Type more of the name, or name a kind or an owner.\n');
    });
}
