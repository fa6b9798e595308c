import { pause } from 'computation-management-client';
import { behaviourOf } from './simulated-behaviour.ts';
import { connectCvm, type CvmConnection } from './simulated-connection.ts';
import { testToken } from './simulated-evidence.ts';
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
   * Makes a simulated CVM send attestation evidence of test keys over its certificate, in PEM. Returns before the evidence is
   * sent.
   */
  attest: (cvm: { domain: string; cvm_id: string; certificate: string }) => void;
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

  const follow = (
    { domain, cvm_id: cvmId }: Pick<ClaimedCvm, 'domain' | 'cvm_id'>,
    live: (connection: CvmConnection) => Promise<unknown>,
  ) => {
    const connection = connectCvm({ baseUrl: options.baseUrl, domain, cvmId, token: options.token, closing: ending.signal });
    const failed = (error: unknown) => {
      if (!ending.signal.aborted) process.stderr.write(`Simulated CVM ${cvmId}: ${String(error)}\n`);
    };
    const life = (async () => live(connection))().catch(failed);
    lives.add(life);
    void life.finally(() => lives.delete(life));
  };
  const boot = (claim: ClaimedCvm) => {
    booted.add(claim.run_id);
    if (behaviourOf(claim.cvm_id).isAbsent) return;
    follow(claim, (connection) => {
      return simulateCvm({ cvmId: claim.cvm_id, runId: claim.run_id, connection, pace, clock, closing: ending.signal });
    });
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
    attest: ({ certificate, ...cvm }) => {
      follow(cvm, (connection) => connection.report({ type: 'attestation', kind: 'eat', token: testToken(certificate) }));
    },
    stop: async () => {
      ending.abort();
      await watching;
      await Promise.all(lives);
    },
  };
}
