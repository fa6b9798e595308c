import { styleText } from 'node:util';
import { type Schemas, type Client, watchRun } from 'computation-management-client';
import { ok as ensure } from 'node:assert';

// Prints the output of the demo: a line for each step and event, with its duration. Uses colours only on a terminal.

const whoWidth = 9;
const whatWidth = 34;

const print = (line: string) => void process.stdout.write(`${line.trimEnd()}\n`);

export function printChapter(title: string): void {
  print(`\n  ${styleText('bold', title)}`);
}

/** Does a step of the demo, and prints a line with the text that `act` returns. Marks a failure of `act` and rethrows it. */
export async function step(who: string, what: string, act: () => Promise<string>): Promise<void> {
  const startedAt = performance.now();
  const line = (mark: string, detail: string) => {
    const took = styleText('dim', duration(performance.now() - startedAt).padStart(7));
    print(`  ${mark} ${took}  ${styleText('cyan', who.padEnd(whoWidth))} ${what.padEnd(whatWidth)} ${detail}`);
  };
  try {
    line(styleText('green', '✓'), await act());
  } catch (error) {
    line(styleText('red', '✗'), error instanceof Error ? error.message : String(error));
    throw error;
  }
}

/** Prints a recorded event of a run. @param seconds from the start of the run to the event */
function printEvent(seconds: number, what: string, status: string, originator: string): void {
  const at = `+${seconds.toFixed(1)} s`.padStart(9);
  print(styleText('dim', `  │${at}  ${originator.padEnd(whoWidth)} `) + `${what.padEnd(whatWidth)} ${status}`);
}

function duration(milliseconds: number): string {
  return milliseconds < 1_000 ? `${milliseconds.toFixed(0)} ms` : `${(milliseconds / 1_000).toFixed(1)} s`;
}

/** Starts a run of a computation and waits until the run has completed. @returns the run's identifier */
export async function runToEnd(owner: Client, computationId: string, cvmId: string): Promise<string> {
  const run = await start(owner, computationId, cvmId);
  await expectEnd(await follow(owner, run), 'completed');
  return run.runId;
}

/** Starts a run of a computation, stops the run while its algorithm is running, and waits until it is cancelled. */
export async function runAndStop(owner: Client, computationId: string, cvmId: string): Promise<void> {
  const run = await start(owner, computationId, cvmId);
  await follow(owner, run, ({ event_type, status }) => event_type === 'Running' && status === 'InProgress');
  await step('owner', 'stops it', async () => {
    const { status } = await owner.stopRun({ id: computationId });
    ensure(status === 'stopping', `the run is ${status}, not stopping`);
    return status;
  });
  await expectEnd(await follow(owner, run), 'cancelled');
}

async function start(owner: Client, computationId: string, cvmId: string): Promise<FollowedRun> {
  const run: FollowedRun = { computationId, runId: '', startedAt: Date.now() };
  await step('owner', `starts a run on ${cvmId}`, async () => {
    run.runId = await owner.startRun({ id: computationId, cvm: cvmId });
    return `run ${run.runId}`;
  });
  return run;
}

async function expectEnd(run: Schemas['Run'] | undefined, expected: string): Promise<void> {
  await step('owner', 'reads how it ended', async () => {
    const outcome = `${run?.status ?? 'not'}: ${run?.reason ?? ''}`;
    ensure(run?.status === expected, `the run ended as ${outcome}`);
    return outcome;
  });
}

interface FollowedRun {
  computationId: string;
  runId: string;
  /** The identifier of the last event of the run that was printed. */
  after?: string;
  startedAt: number;
}

const timeoutInMilliseconds = 60_000;

/**
 * Prints the events of a run as they are recorded, until the run has ended or `isAwaited` accepts an event.
 * @returns the ended run; undefined if the awaited event came
 * @throws Error after a minute
 */
async function follow(
  client: Client,
  run: FollowedRun,
  isAwaited: (event: Schemas['Event']) => boolean = () => false,
): Promise<Schemas['Run'] | undefined> {
  const signal = AbortSignal.timeout(timeoutInMilliseconds);
  const events = watchRun(client, { id: run.computationId, run: run.runId, after: run.after, signal });
  for (;;) {
    const { done, value } = await events.next();
    if (done) return value;
    run.after = value.id;
    printEvent((Date.parse(value.timestamp) - run.startedAt) / 1_000, value.event_type, value.status, value.originator);
    if (isAwaited(value)) return undefined;
  }
}
