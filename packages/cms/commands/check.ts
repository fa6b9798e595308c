import type { Command } from 'commander';
import { wholeAnswer } from 'computation-management-client';
import type { WrapAction } from '../wrap-action.ts';
import { computationId } from '../computation-reference.ts';
import { exitCodes } from '../exit-codes.ts';
import { formatMissing, isNothing, missingItems } from '../missing-items.ts';
import { nextRun } from '../next-run.ts';
import { printable } from '../../../shared/printable.ts';

export function addCheckCommand(program: Command, wrapAction: WrapAction): void {
  program
    .command('check')
    .description('check what is missing before a run, and who must provide it')
    .argument('[COMPUTATION]', 'its identifier or name')
    .action(
      wrapAction(async (context, reference: string | undefined) => {
        const connection = await context.connect();
        const { client, user } = connection;
        const id = await computationId(context, connection, reference);
        const { name, approval, assets } = await client.getComputation({ id });
        const { data, digest: manifest_digest } = wholeAnswer(await client.call('dryRun', { id }));
        const { missing_items } = data;
        const isReady = isNothing(missing_items);
        context.print({ computation: id, ready: isReady, missing_items, manifest_digest }, () =>
          isReady
            ? `${printable(name)} is ready to run.\n`
            : `${printable(name)} is not ready. Missing:\n${formatMissing(missingItems(missing_items, { id, isSigned: approval === 'all_signed', assets }), { user, command: context.command })}`,
        );
        if (!isReady) context.exitWith(exitCodes.incomplete);
        else if (!context.isJson) context.note(await nextRun(context, connection, id));
      }),
    );
}
