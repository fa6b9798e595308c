import { Option } from 'commander';
import type { Arguments, Schemas } from 'computation-management-client';
import { plainName, quotedName } from 'computation-management-formats/quoted-name';
import { shellWord } from 'computation-management-words';
import { defaultComputation } from '../context/computation-reference.ts';
import { beginning, longestQuery, suggestion } from '../context/find-by-name.ts';
import { CmsError, exitCodes } from '../terminal/cms-error.ts';
import { type Column, table } from '../terminal/table.ts';
import { type CmsCommand, given, wholeNumber } from './options.ts';

export function addFindCommand(program: CmsCommand): void {
  program
    .subcommand('find', 'find computations, assets and CVMs by name, identifier or checksum')
    .argument('<QUERY>', 'the beginning of a name, of a word of it, or of an identifier; a checksum in full')
    .addOption(new Option('--kind <KIND>', 'only those of this kind').choices(['computation', 'asset', 'cvm']))
    .option('--limit <COUNT>', 'how many to list, at most 50', wholeNumber(1), 20)
    .does(async (context, q: string, { kind, limit }: Pick<Arguments<'find'>, 'kind' | 'limit'>) => {
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
        const { matches } = await client.find({ q: beginning(reference, longestQuery) });
        const exact = matches.filter(({ id, name }) => name === reference || id === reference.toLowerCase());
        const [only, ...others] = exact.length > 0 ? exact : matches;
        if (!only || others.length > 0) {
          const near = only ? '' : await suggestion(client, reference, {});
          const found = `${only ? 'Several things are' : 'Nothing is'} named ${quotedName(reference)}.${near}`;
          throw new CmsError(found, { next: context.command(`find ${shellWord(reference)}`), exitCode: exitCodes.notFound });
        }
        url += `/${only.kind}s/${encodeURIComponent(only.id)}`;
      }
      if (!context.isJson) terminal.openPage(url);
      context.print({ url }, () => `${url}\n`);
    });
}
