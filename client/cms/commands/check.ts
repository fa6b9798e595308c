import type { Command } from 'commander';
import type { Act } from '../act.ts';
import { computationId } from '../computation-reference.ts';
import { exitCodes } from '../exit-codes.ts';
import { formatMissing, isNothing, missingItems } from '../missing-items.ts';

export function addCheckCommand(program: Command, act: Act): void {
  program
    .command('check')
    .description('check what a run lacks, and who must act')
    .argument('[COMPUTATION]', 'its identifier or name')
    .action(
      act(async (context, reference: string | undefined) => {
        const connection = await context.connect();
        const { client, user } = connection;
        const id = await computationId(context, connection, reference);
        const { name } = await client.getComputation({ id, peek: 'true' });
        const { data, response } = await client.call('dryRun', { id });
        const { missing_items } = data;
        const isReady = isNothing(missing_items);
        const manifest_digest = response.headers.get('manifest-digest');
        context.print({ computation: id, ready: isReady, missing_items, manifest_digest }, () =>
          isReady
            ? `${name} is ready to run.\n`
            : `${name} is not ready. Missing:\n${formatMissing(missingItems(missing_items, id), user)}`,
        );
        if (isReady) context.note(`Next: cms run ${id} --cvm CVM --watch\n`);
        else context.exitWith(exitCodes.incomplete);
      }),
    );
}
