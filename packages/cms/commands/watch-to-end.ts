import { styleText } from 'node:util';
import { type Client, retryUntilAborted, type Schemas, ServiceProblem, waitForRun } from 'computation-management-client';
import { detailsIn } from 'computation-management-formats/bytes';
import { printable } from 'computation-management-formats/printable';
import { machineHelp, shellWord, userText } from 'computation-management-words';
import { named } from '../context/computation-reference.ts';
import type { Session } from '../context/context.ts';
import { interrupted } from '../context/outages.ts';
import { asCmsError, CmsError, type ExitCode, exitCodes } from '../terminal/cms-error.ts';
import { jsonText, textWidth } from '../terminal/text.ts';

type Run = Schemas['Run'];

/** The exit code of a command that watches a run, by the status of the run. */
const exitCodeOf: Record<Run['status'], ExitCode> = {
  completed: exitCodes.success,
  failed: exitCodes.runFailed,
  cancelled: exitCodes.runCancelled,
  running: exitCodes.failure,
  stopping: exitCodes.failure,
};

interface Watched {
  /** The identifier of the computation whose run is watched. */
  id: string;
  run: string;
  /** True if the command names the run: the latest run of the computation may then be another one. */
  isNamed?: boolean;
  /** The thing that goes on after Ctrl-C, in a word: the run, or its stop. */
  goesOn?: 'run' | 'stop';
}

/**
 * Prints the events of a run as they are recorded, until the run has ended. Sets the exit code of the command by the outcome of the run.
 */
export async function watchToEnd(context: Session, { id, run, isNamed = false, goesOn = 'run' }: Watched): Promise<void> {
  const { client, terminal, isJson, outages } = context;
  const { signal } = terminal;
  const computation = named(context, id);
  const option = isNamed ? ` --run ${shellWord(run)}` : '';
  try {
    const readRun = () => client.getRun({ id, run, signal });
    // After a start, the run is there. What the user has typed may be wrong, also the address of the service.
    const read = isNamed ? readRun() : retryUntilAborted(readRun, { signal, onInterruption: outages.began });
    const { started_at, ended_at, cvm_id } = await read;
    const takesFiles = !isJson && ended_at === null && (await isRegistered(client, cvm_id, signal));
    const startedAt = Date.parse(started_at);
    const begun = new Set<string>();
    const ended = await waitForRun(client, {
      id,
      run,
      signal,
      onInterruption: outages.began,
      onEvent: (event) => {
        begun.add(event.event_type);
        terminal.out(`${isJson ? jsonText(event) : eventLine(event, startedAt, terminal)}\n`);
        const step = takesFiles && steps[`${event.event_type}/${event.status}`];
        if (step) context.note(step);
      },
    });
    const took = ended.ended_at === null ? '' : ` after ${((Date.parse(ended.ended_at) - startedAt) / 1_000).toFixed(1)} s`;
    const has = ended.status === 'cancelled' ? 'was' : 'has';
    const said = `The run ${has} ${printable(ended.status)}${took}: ${printable(ended.reason ?? '')}`;
    terminal.out(`${isJson ? jsonText(ended) : said}\n`);
    context.exitWith(exitCodeOf[ended.status]);
    const isFailed = ended.status === 'failed' && !isJson;
    const { log_access } = isFailed ? await client.getComputation({ id, signal }) : { log_access: 'none' };
    const share = context.command(`computation update ${id} --log-access parties`);
    if (isFailed) context.note(repairOf(ended, begun.has('Running'), log_access, share) + machineHelp(ended.reason ?? ''));
    const more = `${log_access === 'parties' ? 'logs' : 'events'}${computation} --run ${shellWord(run)}`;
    const look = isFailed && begun.has('Running') && log_access === 'none' ? `computation show ${id}` : more;
    context.note(`Next: ${context.command(ended.status === 'completed' ? `evidence${computation}${option}` : look)}\n`);
  } catch (error) {
    const message = `You stopped watching. The ${goesOn} goes on.`;
    const stopped = interrupted(error, terminal, message, context.command(`watch${computation}${option}`));
    if (isNamed) throw stopped;
    throw ofRun(await context.explain(stopped), run, context.command(`watch${computation} --run ${shellWord(run)}`));
  }
}

/**
 * Says what likely repairs a failed run.
 * @param isBegun whether the CVM began to run the algorithm
 * @param share the command that shares the logs of later runs
 */
function repairOf({ reason_code }: Run, isBegun: boolean, log_access: string, share: string): string {
  if (reason_code === 'input_changed') {
    return 'A file at its address is not the one that was approved. Its creator restores it, or links the file as it is now.\n';
  }
  const cause = isBegun
    ? 'The CVM failed while it ran the algorithm. Likely the algorithm, its arguments or its data are wrong: try the algorithm on sample data.'
    : 'The CVM did not begin the algorithm. If the reason names no file, ask the owner of the CVM, or run on another one.';
  if (log_access === 'parties') return `${cause} Its log may say more.\n`;
  const log = `Nobody may read its log. To share those of later runs, which makes the approvals stale: ${share}`;
  return isBegun ? `${cause} ${log}\n` : `${cause}\n`;
}

/**
 * The exit codes of errors that may pass when a command that watches a run is repeated. Other errors lead to another command, such as a
 * login.
 */
const passing: ExitCode[] = [exitCodes.failure, exitCodes.unavailable];

/**
 * Returns the error of a command that watches a run, with the identifier of the run in its JSON. The command to type next watches the run:
 * a repeat of the command that was typed may start another run.
 */
function ofRun(error: unknown, run: string, watch: string): CmsError {
  const said = asCmsError(error);
  const { message, exitCode, cause } = said;
  const next = passing.includes(exitCode) ? watch : said.next;
  return new CmsError(message, { next, exitCode, problem: { ...said.problem, run_id: run }, cause });
}

/** Sentences that `cms` prints when an event of an agent arrives: what users of a real CVM do next. See docs/participant.md. */
const steps: Record<string, string> = {
  'ReceivingAlgorithm/InProgress': 'The CVM waits for the algorithm. Its provider types: cms send FILE --key KEY\n',
  'ReceivingData/InProgress': 'The CVM waits for the datasets. Each provider types: cms send FILE --key KEY\n',
  'ConsumingResults/Ready': 'The result is in the CVM. Each consumer types: cms result --key KEY\n',
};

/**
 * Returns whether a CVM is registered. To simulated CVMs, which are not registered, nobody brings files. False if the service cannot say
 * it.
 */
async function isRegistered(client: Client, cvmID: string, signal: AbortSignal): Promise<boolean> {
  const found = await client.getCvm({ cvmID, signal }).catch((error: unknown) => {
    if (!(error instanceof ServiceProblem)) throw error;
  });
  return found !== undefined;
}

/** Formats an event of a run as a line of a timeline, with the seconds since `startedAt` (milliseconds since 1970). */
export function eventLine(event: Schemas['Event'], startedAt: number, { colours }: { colours: boolean }): string {
  const { originator, event_type, status, timestamp } = event;
  const at = `+${((Date.parse(timestamp) - startedAt) / 1_000).toFixed(1)} s`.padStart(10);
  const [mark, colour] = lookOf(event);
  const line = `${at}  ${padded(userText(originator), 18)}  ${padded(event_type, 18)}  ${printable(status)}`.trimEnd();
  const { reason } = detailsIn(event.details);
  const shown = `${mark}${line}${typeof reason === 'string' && reason !== '' ? `  ${printable(reason)}` : ''}`;
  return colours && colour !== undefined ? styleText(colour, shown, { validateStream: false }) : shown;
}

const padded = (text: string, width: number) => {
  const shown = printable(text);
  return shown + ' '.repeat(Math.max(0, width - textWidth(shown)));
};

/** Returns the mark before an event, and its colour. */
function lookOf({ event_type, originator, status }: Schemas['Event']) {
  if (originator !== 'system') return [' ', /^(Failed|Warning|failure)$/.test(status) ? 'red' : undefined] as const;
  if (event_type === 'completed') return ['✓', 'green'] as const;
  return event_type === 'failed' ? (['✗', 'red'] as const) : ([' ', 'yellow'] as const);
}
