import { pause } from 'computation-management-client';
import { behaviourOf } from './simulated-behaviour.ts';
import { connectCvm } from './simulated-connection.ts';
import { type Pace, simulateCvm, type SimulatorClock, systemClock } from './simulated-cvm.ts';

/** A CVM that has a run which is offered to it or active on it. */
export interface ClaimedCvm {
  domain: string;
  cvm_id: string;
  run_id: string;
}

export interface SimulatedCvmsOptions {
  baseUrl: string;
  /** Returns an access token with the role `cvm` in a domain. */
  token: (domain: string) => Promise<string>;
  listClaimedCvms: () => Promise<ClaimedCvm[]>;
  pace?: Partial<Pace>;
  /**
   * The clock that measures the pauses of simulated CVMs. Default: the system clock. Requests and their retries use real time.
   */
  clock?: SimulatorClock;
}

export interface SimulatedCvms {
  /**
   * Returns the result of a run, a ZIP archive. Undefined until the simulated CVM has it, and after a restart of the process, as a
   * real agent loses its results with a restart.
   */
  resultOf: (runId: string) => Buffer | undefined;
  stop: () => Promise<void>;
}

const usualPace: Pace = { eventsInMilliseconds: 300, heartbeatInMilliseconds: 1_000, pollInMilliseconds: 250 };

/**
 * Simulates the CVM of every run of a service, by the two endpoints of CVMs over HTTP. Whatever CVM a run names, a simulated CVM
 * answers, and its identifier selects its behaviour (`behaviourOf`). Each run gets a new simulated CVM, as each agent process
 * serves one computation. `listClaimedCvms` lists the CVMs that have work. Only a simulator needs such a list: a real CVM knows
 * its own name.
 */
export function startSimulatedCvms(options: SimulatedCvmsOptions): SimulatedCvms {
  const pace = { ...usualPace, ...options.pace };
  const clock = options.clock ?? systemClock;
  const ending = new AbortController();
  const booted = new Set<string>();
  const lives = new Set<Promise<unknown>>();
  const results = new Map<string, Buffer>();

  const boot = ({ domain, cvm_id: cvmId, run_id: runId }: ClaimedCvm) => {
    booted.add(runId);
    if (behaviourOf(cvmId).isAbsent) return;
    const connection = connectCvm({ baseUrl: options.baseUrl, domain, cvmId, token: options.token, closing: ending.signal });
    const failed = (error: unknown) => {
      if (!ending.signal.aborted) process.stderr.write(`Simulated CVM ${cvmId}: ${String(error)}\n`);
    };
    const onResult = (archive: Buffer) => void results.set(runId, archive);
    const life = simulateCvm({ cvmId, runId, connection, pace, clock, onResult, closing: ending.signal }).catch(failed);
    lives.add(life);
    void life.finally(() => lives.delete(life));
  };
  const discover = async () => {
    const claims = await options.listClaimedCvms();
    const claimed = new Set(claims.map((claim) => claim.run_id));
    for (const runId of booted) if (!claimed.has(runId)) booted.delete(runId);
    for (const claim of claims) if (!booted.has(claim.run_id)) boot(claim);
  };
  const watch = async () => {
    while (!ending.signal.aborted) {
      await discover().catch(() => undefined); // retried after the pause
      await pause(pace.pollInMilliseconds, ending.signal, clock.setTimer).catch(() => undefined);
    }
  };

  const watching = watch();
  return {
    resultOf: (runId) => results.get(runId),
    stop: async () => {
      ending.abort();
      await watching;
      await Promise.all(lives);
    },
  };
}
