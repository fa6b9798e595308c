import { retryUntilAborted, type Schemas, waitForRun } from 'computation-management-client';
import type { Connection } from '../connection.ts';
import type { Context } from '../context.ts';
import { named } from '../computation-reference.ts';
import { exitCodes, type ExitCode } from '../exit-codes.ts';
import { eventLine } from '../output/event-line.ts';
import { shellWord } from '../output/shell-word.ts';
import { interrupted } from './interrupted.ts';
import { type LiveLine, liveLine } from './live-line.ts';
import { ofRun } from './of-run.ts';
import { isRegistered, stepAtTheAgent } from './step-at-the-agent.ts';
import { printable } from '../../../shared/printable.ts';

type Run = Schemas['Run'];

/** The exit code of a watched run. */
const exitCodeOf: Record<Run['status'], ExitCode> = {
  completed: exitCodes.success,
  failed: exitCodes.runFailed,
  cancelled: exitCodes.runCancelled,
  running: exitCodes.failure,
  stopping: exitCodes.failure,
};

interface Watched {
  /** The computation. */
  id: string;
  run: string;
  /** Whether the command has named the run: then the latest run of the computation may be another one. */
  isNamed?: boolean;
  /** What goes on after Ctrl-C. */
  goesOn?: 'run' | 'stop';
}

/** Prints the events of a run as they are recorded, until it has ended. Sets the exit code by its outcome. */
export async function watchToEnd(
  context: Context,
  connection: Connection,
  { id, run, isNamed = false, goesOn = 'run' }: Watched,
): Promise<void> {
  const { client } = connection;
  const { terminal, isJson, outages } = context;
  const { signal } = terminal;
  const computation = named(context, connection, id);
  const option = isNamed ? ` --run ${shellWord(run)}` : '';
  let shown: LiveLine | undefined;
  try {
    const readRun = () => client.getRun({ id, run, signal });
    // After a start, the run is there. What the user has typed may be wrong, also the address of the service.
    const read = isNamed ? readRun() : retryUntilAborted(readRun, { signal, onInterruption: outages.began });
    const { started_at, ended_at, cvm_id } = await read;
    const takesFiles = !isJson && ended_at === null && (await isRegistered(client, cvm_id, signal));
    const startedAt = Date.parse(started_at);
    const live = (shown = liveLine(terminal, startedAt));
    if (!isJson) outages.noteWith(live.note);
    const ended = await waitForRun(client, {
      id,
      run,
      signal,
      onInterruption: outages.began,
      onEvent: (event) => {
        live.print(isJson ? `${JSON.stringify(event)}\n` : `${eventLine(event, startedAt, terminal)}\n`);
        const step = takesFiles && stepAtTheAgent(event);
        if (step) live.note(step);
      },
    });
    live.stop();
    const took = ended.ended_at === null ? '' : ` after ${((Date.parse(ended.ended_at) - startedAt) / 1_000).toFixed(1)} s`;
    if (isJson) terminal.out(`${JSON.stringify(ended)}\n`);
    else
      terminal.out(
        `The run ${ended.status === 'cancelled' ? 'was' : 'has'} ${ended.status}${took}: ${printable(ended.reason ?? '')}\n`,
      );
    context.exitWith(exitCodeOf[ended.status]);
    const next = ended.status === 'completed' ? `evidence${computation}${option}` : `events${computation} --run ${run}`;
    context.note(`Next: ${context.command(next)}\n`);
  } catch (error) {
    const message = `You stopped watching. The ${goesOn} goes on.`;
    const stopped = interrupted(error, terminal, message, context.command(`watch${computation}${option}`));
    if (isNamed) throw stopped;
    throw ofRun(await context.explain(stopped), run, context.command(`watch${computation} --run ${shellWord(run)}`));
  } finally {
    shown?.stop();
    outages.noteWith(context.note);
  }
}
