import { Option } from 'commander';
import type { Arguments, Schemas } from 'computation-management-client';
import { plainName, quotedName } from 'computation-management-formats/quoted-name';
import { shellWord, userText } from 'computation-management-words';
import { defaultComputation } from '../context/computation-reference.ts';
import { onlyNamed, suggestion } from '../context/find-by-name.ts';
import { CmsError, exitCodes } from '../terminal/cms-error.ts';
import { type Column, table } from '../terminal/table.ts';
import { type CmsCommand, given, wholeNumber } from './options.ts';

export function addFindCommand(program: CmsCommand): void {
  program
    .subcommand('find', 'find computations, assets and CVMs by name, identifier or checksum')
    .argument('<QUERY>', 'words of the name or their beginnings, the beginning of an identifier, or a checksum in full')
    .addOption(new Option('--kind <KIND>', 'only those of this kind').choices(['computation', 'asset', 'cvm']))
    .option('--owner <USER>', 'only what this user owns or has created')
    .option('--limit <COUNT>', 'how many to list, at most 50', wholeNumber(1), 20)
    .does(async (context, q: string, { kind, owner, limit }: Pick<Arguments<'find'>, 'kind' | 'owner' | 'limit'>) => {
      const { client } = await context.connect();
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
        const how = 'Names match by the beginnings of words, identifiers by at least their first 18 characters.';
        context.note(`${how}\nNext: ${context.command(`${kind ?? 'computation'} list`)}\n`);
      }
      if (truncated) context.note('There may be more. Type more of the name, or name a kind or an owner.\n');
    });
}

export function addOpenCommand(program: CmsCommand): void {
  program
    .subcommand('open', "open the console's page of a computation, an asset or a CVM; CMS_CONSOLE names a console elsewhere")
    .argument('[NAME]', 'its name or identifier (default: the default computation)')
    .does(async (context, given: string | undefined) => {
      const { terminal } = context;
      const connection = await context.connect();
      const { client, domain, server } = connection;
      const reference = given ?? defaultComputation(context, connection);
      const base = (terminal.env['CMS_CONSOLE'] || server).replace(/\/+$/, '');
      let url = `${base}/console/domains/${encodeURIComponent(domain)}`;
      if (reference === undefined) url += '/computations';
      else {
        const only = await onlyNamed(connection, reference);
        if (typeof only === 'string') {
          const near = only === 'several' ? '' : await suggestion(client, reference, {});
          const found = `${only === 'several' ? 'Several things are' : 'Nothing is'} named ${quotedName(reference)}.${near}`;
          throw new CmsError(found, {
            next: context.command(`find ${shellWord(reference)}`),
            exitCode: only === 'several' ? exitCodes.usage : exitCodes.notFound,
          });
        }
        url += `/${only.kind}s/${encodeURIComponent(only.id)}`;
      }
      if (!context.isJson) terminal.openPage(url);
      context.print({ url }, () => `${url}\n`);
    });
}
