import type { Command } from 'commander';
import { quotedName } from 'computation-management-formats/quoted-name';
import { shellWord } from 'computation-management-words';
import { defaultComputation } from '../context/computation-reference.ts';
import type { WrapAction } from '../context/context.ts';
import { beginning, longestQuery, suggestion } from '../context/find-by-name.ts';
import { CmsError, exitCodes } from '../terminal/cms-error.ts';

export function addOpenCommand(program: Command, wrapAction: WrapAction): void {
  program
    .command('open')
    .description("open the console's page of a computation, an asset or a CVM; CMS_CONSOLE names a console elsewhere")
    .argument('[NAME]', 'its name or identifier (default: the default computation)')
    .action(
      wrapAction(async (context, given: string | undefined) => {
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
      }),
    );
}
