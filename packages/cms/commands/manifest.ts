import { wholeAnswer } from 'computation-management-client';
import { printable } from 'computation-management-formats/printable';
import { plainName } from 'computation-management-formats/quoted-name';
import { isNothing } from 'computation-management-words';
import { machinesFor, nextRun, withoutMachine } from '../context/computation-reference.ts';
import { formatCoverage, formatManifest, coverageOf, staleApprovals, staleText } from '../context/coverage.ts';
import { formatMissing, isLimit, missingItems, missingTitle, namesApproval } from '../context/missing-items.ts';
import { exitCodes } from '../terminal/cms-error.ts';
import { hanging } from '../terminal/text.ts';
import type { CmsCommand } from './options.ts';

export function addManifestCommand(program: CmsCommand): void {
  program
    .subcommand('manifest', 'show the manifest: what a run uses, and who gets its results')
    .option('--run <RUN>', 'the manifest that this run was started with')
    .onComputation(async (context, id, { run }: { run?: string }) => {
      const manifest = await context.client.getManifest({ id, run });
      context.print(manifest, () => formatManifest(manifest, context.terminal));
    });
}

export function addCheckCommand(program: CmsCommand): void {
  program
    .subcommand('check', 'show what an approval covers, what is missing before a run, and who must provide it')
    .option('--cvm <CVM>', 'a run on this CVM')
    .onComputation(async (context, id, { cvm }: { cvm?: string }) => {
      const { client, user } = context;
      const computation = await client.getComputation({ id });
      const { data, digest: manifest_digest } = wholeAnswer(await client.call('dryRun', { id, cvm }));
      const { missing_items, warnings = [] } = data;
      const isComplete = isNothing(missing_items);
      const machines = isComplete && cvm === undefined ? await machinesFor(context, computation) : undefined;
      const isReady = isComplete && (machines === undefined || machines.fitting !== undefined);
      const isStale = !context.isJson && namesApproval(missing_items);
      const stale = isStale ? await staleApprovals(context, id) : [];
      const isCovered = manifest_digest !== undefined && !context.isJson;
      const covered = isCovered
        ? `${formatCoverage(await coverageOf(context, { id, computation }), context.terminal, { computation, you: user, stale })}\n`
        : staleText(stale);
      const isSigned = computation.approval === 'all_signed';
      const items = missingItems(missing_items, { id, isSigned, assets: computation.assets });
      const name = plainName(computation.name);
      context.print({ computation: id, ready: isReady, missing_items, machines, warnings, manifest_digest }, () =>
        machines?.fitting === undefined && machines
          ? `${covered}${hanging(`${name} lacks nothing but a machine.`, context.terminal.columns)}\n${withoutMachine(machines, context.terminal.columns)}`
          : isReady
            ? `${covered}${hanging(`${name} is ready to run.`, context.terminal.columns)}\n`
            : `${covered}${hanging(`${name} is not ready. ${missingTitle(items)}`, context.terminal.columns)}\n${formatMissing(items, { user, command: context.command })}`,
      );
      for (const warning of context.isJson ? [] : warnings)
        context.note(`${hanging(printable(`Warning: ${warning}.`), context.terminal.columns)}\n`);
      if (!isReady) context.exitWith(exitCodes.incomplete);
      if (context.isJson || !items.every(isLimit)) return;
      if (isComplete && !isReady) context.note(`Next: ${context.command('cvm register CVM')}\n`);
      else context.note(await nextRun(context, id, cvm ?? machines?.fitting));
    });
}
