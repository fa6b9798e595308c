import { createPublicKey } from 'node:crypto';
import { pause, type SetTimer } from 'computation-management-client';
import * as v from 'valibot';
import { type AgentEvent, behaviourOf, stoppedEvents } from './simulated-behaviour.ts';
import type { ArrivingCommand, CvmConnection, NewReport } from './simulated-connection.ts';
import { simulatedResult } from './simulated-result.ts';

export interface Pace {
  /** The pause between two events of a simulated agent, in milliseconds. */
  eventsInMilliseconds: number;
  /** The pause between two heartbeats of a simulated CVM while no event is sent, in milliseconds. */
  heartbeatInMilliseconds: number;
  /** The pause between two requests of a simulated CVM for commands, in milliseconds. */
  pollInMilliseconds: number;
}

/** The clock that measures the pauses of a simulated CVM, and gives the times of its events. */
export interface SimulatorClock {
  /** Returns the present time in milliseconds since 1970. */
  now: () => number;
  /** Calls a function after some milliseconds of this clock. Default: the timer of the system. */
  setTimer?: SetTimer;
}

export const systemClock: SimulatorClock = { now: Date.now };

export interface SimulatedCvm {
  cvmId: string;
  runId: string;
  connection: CvmConnection;
  pace: Pace;
  /** The clock that measures the pauses of the CVM. Default: the clock of the system. */
  clock?: SimulatorClock;
  /** Called with the result of the run, a ZIP archive, when the CVM has it ready. */
  onResult?: (archive: Buffer) => void;
  /** A signal that is aborted when the simulator stops. */
  closing: AbortSignal;
}

/**
 * Simulates one CVM for one run, as an agent serves one computation: asks for commands, takes the run, reports, obeys a stop.
 * Ends its work when the service says that the run has failed or was cancelled. Also takes up a run that the CVM accepted before
 * a restart of this machine, from the start of the algorithm on, because the service does not send the manifest again.
 * @throws AbortError when `closing` is aborted; ServiceProblem
 */
export async function simulateCvm(cvm: SimulatedCvm): Promise<void> {
  const { cvmId, runId, connection, pace, clock = systemClock, onResult, closing } = cvm;
  const behaviour = behaviourOf(cvmId);
  const stopped = new AbortController();
  /** Aborted when the service has ended the run without this CVM. */
  const over = new AbortController();
  const answered = new Set<string>();
  let work: Promise<void> | undefined;
  let latestEvent: AgentEvent | undefined;

  const send = async (...reports: NewReport[]) => {
    const status = await connection.report(...reports);
    if (status === null || ['failed', 'cancelled'].includes(status)) over.abort();
  };
  const report = async (event: AgentEvent, ...before: NewReport[]) => {
    const occurred_at = new Date(clock.now()).toISOString();
    await send(...before, { type: 'event', run_id: runId, ...event, details: '', occurred_at });
    latestEvent = event;
  };
  const waitBeating = async (milliseconds: number, signal: AbortSignal) => {
    const endsAt = clock.now() + milliseconds;
    for (let left = milliseconds; left > 0; left = endsAt - clock.now()) {
      await pause(Math.min(left, pace.heartbeatInMilliseconds), signal, clock.setTimer);
      if (left > pace.heartbeatInMilliseconds) await send({ type: 'heartbeat', run_id: runId });
    }
  };

  const takeRun = async ({ id: command_id, manifest }: ArrivingCommand) => {
    const flaw = manifestFlaw(manifest);
    if (flaw !== undefined) process.stderr.write(`Simulated CVM ${cvmId}: this manifest would crash an agent: ${flaw}\n`);
    const reason = flaw === undefined ? behaviour.refusal : `The manifest would crash an agent: ${flaw}`;
    if (reason !== undefined) {
      await send({ type: 'rejected', run_id: runId, command_id, reason });
      return;
    }
    await send({ type: 'accepted', run_id: runId, command_id, reason: '' });
    await workThrough(behaviour.before(manifest?.datasets.length ?? 0), manifest);
  };

  const workThrough = async (before: AgentEvent[], manifest?: ArrivingCommand['manifest']) => {
    const untilStopped = AbortSignal.any([closing, stopped.signal, over.signal]);
    const tell = async (events: AgentEvent[]) => {
      for (const event of events) {
        await waitBeating(pace.eventsInMilliseconds, untilStopped);
        if (event.event_type === 'ConsumingResults') onResult?.(simulatedResult({ runId, cvmId, manifest }));
        await report(event);
      }
    };
    await tell(before);
    if (behaviour.fallsSilent) return;
    await waitBeating(behaviour.worksInMilliseconds, untilStopped);
    await tell(behaviour.after);
  };

  const obeyStop = async ({ id: command_id }: ArrivingCommand) => {
    stopped.abort();
    await work;
    const wasAtWork = latestEvent?.event_type === 'Running';
    await report(stoppedEvents.stopped, { type: 'accepted', run_id: runId, command_id, reason: '' });
    if (!wasAtWork) return;
    await waitBeating(pace.eventsInMilliseconds, closing);
    await report(stoppedEvents.failedAfterwards);
  };

  const obey = async (command: ArrivingCommand) => {
    answered.add(command.id);
    if (command.type === 'run') {
      work = untilAborted(takeRun(command), closing);
      work.catch(() => undefined); // rethrown where it is awaited
    } else if (!behaviour.ignoresStops) await obeyStop(command);
    if (behaviour.fallsSilent) await work;
  };

  while (!(behaviour.fallsSilent && work)) {
    const { commands, run } = await connection.work();
    if (run?.id !== runId) break;
    if (!work && run.accepted_at !== null && !commands.some(({ type }) => type === 'run')) {
      work = untilAborted(behaviour.fallsSilent ? Promise.resolve() : workThrough(behaviour.before(0).slice(1)), closing);
      work.catch(() => undefined); // rethrown where it is awaited
    }
    for (const command of commands) if (command.run_id === runId && !answered.has(command.id)) await obey(command);
    await pause(pace.pollInMilliseconds, closing, clock.setTimer);
  }
  await work;
}

/** Waits for an activity of a simulated CVM, and ignores its AbortError unless the simulator stops. */
async function untilAborted(activity: Promise<unknown>, closing: AbortSignal): Promise<void> {
  try {
    await activity;
  } catch (error) {
    closing.throwIfAborted();
    if (!(error instanceof Error && error.name === 'AbortError')) throw error;
  }
}

const hash = v.pipe(
  v.array(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(255))),
  v.length(32, 'a hash is not 32 bytes long'),
);
const userKey = v.pipe(v.string(), v.check(isPublicKey, 'a user_key is not a public key in DER SubjectPublicKeyInfo'));
const filename = v.pipe(v.string(), v.regex(/^(?!\.{1,2}$)[^/\0]+$/, 'a filename is not a plain name'));

const acceptable = v.object({
  id: v.pipe(v.string(), v.minLength(1, 'it has no id')),
  datasets: v.pipe(
    v.array(v.object({ hash, user_key: userKey, filename })),
    v.check((all) => new Set(all.map((each) => each.filename)).size === all.length, 'two datasets share a filename'),
  ),
  algorithm: v.object({ hash, user_key: userKey }, 'it has no algorithm'),
  result_consumers: v.pipe(v.array(v.object({ user_key: userKey })), v.minLength(1, 'it has no result consumer')),
});

/** Says what in a manifest would crash a real agent or lock its users out. Returns undefined for a good manifest. */
export function manifestFlaw(manifest: unknown): string | undefined {
  const { issues } = v.safeParse(acceptable, manifest);
  if (!issues) return undefined;
  const [issue] = issues;
  const path = v.getDotPath(issue);
  return path === null ? issue.message : `${path}: ${issue.message}`;
}

function isPublicKey(base64: string): boolean {
  try {
    const key = createPublicKey({ key: Buffer.from(base64, 'base64'), format: 'der', type: 'spki' });
    return ['rsa', 'ec', 'ed25519'].includes(key.asymmetricKeyType ?? '');
  } catch {
    return false;
  }
}
