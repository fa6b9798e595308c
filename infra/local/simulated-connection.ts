import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import * as v from 'valibot';
import type { Report } from '../../shared/runs/report.ts';

type WithoutId<Each> = Each extends unknown ? Omit<Each, 'id'> : never;
export type NewReport = WithoutId<Report>;

/** The same for the same fact, so a CVM that reports again what it reported before a restart of this machine adds nothing. */
function identifierOf(report: NewReport): string {
  switch (report.type) {
    case 'event':
      return `event:${report.event_type}/${report.status}`;
    case 'accepted':
    case 'rejected':
      return `${report.type}:${report.command_id}`;
    case 'heartbeat':
      return randomUUID();
  }
}

/** A command as it arrives. Its manifest is not validated here, but later as an agent would. */
const arrivingCommand = v.object({
  id: v.string(),
  type: v.picklist(['run', 'stop']),
  run_id: v.string(),
  manifest: v.optional(v.unknown()),
});
export type ArrivingCommand = v.InferOutput<typeof arrivingCommand>;
const arrivingWork = v.object({
  commands: v.array(arrivingCommand),
  run: v.nullable(v.object({ id: v.string(), accepted_at: v.nullable(v.string()) })),
});
type ArrivingWork = v.InferOutput<typeof arrivingWork>;

const answerToReports = v.object({ results: v.array(v.object({ run_status: v.nullable(v.string()) })) });

/** The service refused a request of a CVM with a status that no retry changes. */
class RefusedError extends Error {
  override readonly name = 'RefusedError';
  readonly status: number;

  constructor(status: number, answer: string) {
    super(`${status} ${answer}`);
    this.status = status;
  }
}

export interface CvmConnection {
  /** The commands for the CVM, and the run that holds it. */
  work: () => Promise<ArrivingWork>;
  /**
   * Returns when the service has the reports. A report that is sent again keeps its identifier.
   * @returns the status of the run after the last report
   */
  report: (...reports: NewReport[]) => Promise<string | null>;
}

export interface ConnectionOptions {
  baseUrl: string;
  domain: string;
  cvmId: string;
  /** A token with the role `cvm` in the domain. */
  token: (domain: string) => Promise<string>;
  /** Aborts every request and every wait. */
  closing: AbortSignal;
}

const requestTimeoutInMilliseconds = 10_000;
const longestPauseInMilliseconds = 2_000;

/** Calls the two endpoints of CVMs. Repeats the same request until the service accepts it. */
export function connectCvm({ baseUrl, domain, cvmId, token, closing }: ConnectionOptions): CvmConnection {
  const base = `${baseUrl}/${domain}/cvms/${cvmId}`;
  let bearer: string | undefined;

  const attempt = async (path: string, init: RequestInit): Promise<Response | undefined> => {
    try {
      bearer ??= await token(domain);
      const headers = { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' };
      const signal = AbortSignal.any([closing, AbortSignal.timeout(requestTimeoutInMilliseconds)]);
      const response = await fetch(base + path, { ...init, headers, signal });
      if (response.status === 401) bearer = undefined;
      return response;
    } catch {
      closing.throwIfAborted();
      return undefined; // no answer
    }
  };

  const call = async (path: string, init: RequestInit = {}): Promise<unknown> => {
    for (let pause = 100; ; pause = Math.min(pause * 2, longestPauseInMilliseconds)) {
      const response = await attempt(path, init);
      if (response?.ok) return await response.json();
      const answer = (await response?.text()) ?? '';
      if (response && response.status < 500 && ![401, 408, 429].includes(response.status)) {
        throw new RefusedError(response.status, answer);
      }
      await delay(pause, undefined, { signal: closing });
    }
  };

  return {
    work: async () => v.parse(arrivingWork, await call('/commands')),
    report: async (...reports) => {
      const body = JSON.stringify({ reports: reports.map((report) => ({ id: identifierOf(report), ...report })) });
      const { results } = v.parse(answerToReports, await call('/reports', { method: 'POST', body }));
      return results.at(-1)?.run_status ?? null;
    },
  };
}
