import { findRows } from 'computation-management-client';
import { printable } from 'computation-management-formats/printable';
import { runStatuses } from 'computation-management-formats/vocabulary';
import { agoText, userText } from 'computation-management-words';
import { sendFiles, type SendOptions } from '../agent/send-files.ts';
import { asked } from '../context/context.ts';
import { noteLikeCvms } from '../context/find-by-name.ts';
import { errorOf, UsageError } from '../terminal/cms-error.ts';
import { computationId, named, thenUse } from '../context/computation-reference.ts';
import { statusColour } from '../terminal/table.ts';
import { interrupted } from '../context/outages.ts';
import { watchToEnd } from './watch-to-end.ts';
import { listOf, type ListOptions } from './list.ts';
import { type CmsCommand, given } from './options.ts';

interface RunOptions extends Partial<SendOptions> {
  send?: string[];
  cvm?: string;
  again?: boolean;
  watch?: boolean;
}

export function addRunCommands(program: CmsCommand): void {
  program
    .subcommand('run', 'start a run of a computation on a CVM')
    .argument('[COMPUTATION]', 'its identifier or name')
    .option('--cvm <CVM>', 'the CVM that takes the run (required, but for --again)')
    .excluding('--again', 'on the CVM of the latest run', 'cvm')
    .option('--watch', 'print its events until the run has ended; the exit code shows the outcome')
    .repeatable('--send <FILE>', 'with --watch: send this file of yours to the agent, with --key')
    .option('--key <FILE>', 'your private key, whose public key is in the manifest')
    .sendOptions()
    .does(async (context, reference: string | undefined, options: RunOptions) => {
      const { watch, again, send, key } = options;
      if (send && !(key && watch)) throw new UsageError('--send goes with --watch and --key.', context.help);
      const given = options.cvm ?? (again === true ? undefined : await asked(context, 'The CVM that takes the run'));
      if (given === undefined && again !== true) {
        const { isLocal } = await context.target();
        const next = isLocal ? `${context.typed} --cvm ${await context.exampleCvm()}` : context.command('cvm list');
        throw new UsageError('Missing option --cvm: choose the CVM for the run.', next);
      }
      const session = await context.connect();
      const { client } = session;
      const id = await computationId(session, reference);
      const cvm = given ?? (await client.getRun({ id })).cvm_id;
      await noteLikeCvms(session, cvm);
      const { name } = await client.getComputation({ id, peek: 'true' });
      const run = await client.startRun({ id, cvm }).catch((error: unknown) => {
        throw interrupted(error, context.terminal, 'Interrupted. The run may have started.', context.command(`runs ${id}`));
      });
      await thenUse(session, id);
      if (watch !== true) {
        context.print({ run, computation: id, cvm }, () => `Started the run ${run} of ${printable(name)} on ${cvm}.\n`);
        context.note(`Next: ${context.command(`watch${named(session, id)}`)}\n`);
        return;
      }
      context.note(`Started the run ${run} of ${printable(name)} on ${cvm}.\n`);
      if (send && key !== undefined) await sendFiles(session, id, { ...options, key, run, files: send });
      await watchToEnd(session, { id, run });
    });

  program
    .subcommand('watch', 'print the events of a run as they are recorded, until it has ended')
    .option('--run <RUN>', 'the run (default: the latest)')
    .onComputation(async (context, id, options: { run?: string }) => {
      const run = options.run ?? (await context.client.getComputation({ id })).run?.id;
      if (run === undefined)
        throw errorOf('notFound', 'This computation was never run.', context.command(`check${named(context, id)}`));
      await watchToEnd(context, { id, run, isNamed: options.run !== undefined });
    });

  program
    .subcommand('stop', 'stop the active run of a computation')
    .option('--watch', 'print its events until it has ended')
    .onComputation(async (context, id, { watch }: { watch?: boolean }) => {
      const run = await context.client.stopRun({ id });
      if (watch === true) {
        await watchToEnd(context, { id, run: run.id, goesOn: 'stop' });
        return;
      }
      context.print(run, () => `The run ${run.id} on ${run.cvm_id} is ${printable(run.status)}.\n`);
      context.note(`Next: ${context.command(`watch${named(context, id)}`)}\n`);
    });

  program
    .subcommand('runs', 'list runs, newest first')
    .argument('[COMPUTATION]', 'only runs of this computation')
    .listOptions()
    .choice('--status <STATUS>', 'only those with this status', runStatuses)
    .does(async (context, reference: string | undefined, options: ListOptions & { status?: string }) => {
      const id = reference === undefined ? undefined : await computationId(await context.connect(), reference);
      await listOf(context, 'listRuns', {
        filter: given({ status: options.status, computation_id: id }),
        options,
        columns: async (runs, client) => {
          const ids = [...new Set(runs.map(({ computation_id }) => computation_id))];
          const names = await findRows(client, 'listComputations', ids);
          return [
            { title: 'run', value: ({ id }) => id },
            { title: 'computation', value: ({ computation_id: id }) => names.get(id)?.name ?? id, cuts: true },
            { title: 'cvm', value: ({ cvm_id }) => cvm_id, cuts: true },
            { title: 'status', value: ({ status }) => status, colour: statusColour },
            { title: 'started', value: ({ started_at }) => agoText(started_at, context.terminal.now()) },
            { title: 'by', value: ({ started_by }) => userText(started_by) },
          ];
        },
      });
    });
}
