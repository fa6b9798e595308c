import type { Command } from 'commander';
import type { WrapAction } from '../wrap-action.ts';
import { computationId } from '../computation-reference.ts';
import { formatManifest } from '../manifest.ts';

export function addManifestCommand(program: Command, wrapAction: WrapAction): void {
  program
    .command('manifest')
    .description('show the manifest: what a run uses, and who gets its results')
    .argument('[COMPUTATION]', 'its identifier or name')
    .option('--run <RUN>', 'the manifest that this run was started with')
    .action(
      wrapAction(async (context, reference: string | undefined, { run }: { run?: string }) => {
        const connection = await context.connect();
        const id = await computationId(context, connection, reference);
        const manifest = await connection.client.getManifest({ id, run });
        context.print(manifest, () => formatManifest(manifest));
      }),
    );
}
