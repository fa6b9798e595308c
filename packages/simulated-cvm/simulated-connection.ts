import { randomUUID } from 'node:crypto';
import { createClient, retryUntilAborted, type Schemas } from 'computation-management-client';

type WithoutId<Each> = Each extends unknown ? Omit<Each, 'id'> : never;
export type NewReport = WithoutId<Schemas['Report']>;
export type ArrivingCommand = Pick<Schemas['Command'], 'id' | 'type' | 'run_id' | 'manifest'>;

/**
 * Returns the identifier of a report: the same one for the same fact. So a CVM that repeats, after a restart of this machine,
 * what it had reported adds nothing. Heartbeats get a new identifier each time.
 */
function identifierOf(report: NewReport): string {
  if (report.type === 'heartbeat') return randomUUID();
  return report.type === 'event' ? `event:${report.event_type}/${report.status}` : `${report.type}:${report.command_id}`;
}

export interface CvmConnection {
  /** Asks the service for the commands for the CVM, and the run that holds the CVM. */
  work: () => Promise<{ commands: ArrivingCommand[]; run: Pick<Schemas['HeldRun'], 'id' | 'accepted_at'> | null }>;
  /**
   * Sends reports to the service, and returns when the service has them. A report that is sent again keeps its identifier.
   * @returns the status of the run after the last report
   */
  report: (...reports: NewReport[]) => Promise<string | null>;
}

export interface ConnectionOptions {
  baseUrl: string;
  domain: string;
  cvmId: string;
  /** Returns an access token with the role `cvm` in a domain. */
  token: (domain: string) => Promise<string>;
  /** A signal that aborts every request and every wait of the connection. */
  closing: AbortSignal;
}

const retry = {
  attempts: Infinity,
  firstPauseInMilliseconds: 100,
  longestPauseInMilliseconds: 2_000,
  timeoutInMilliseconds: 10_000,
};

/**
 * Makes the connection of a simulated CVM, which calls the two endpoints of CVMs. Repeats the same request until the service
 * accepts or refuses it. Calls of the connection throw ServiceProblem.
 */
export function connectCvm({ baseUrl, domain, cvmId: cvmID, token, closing: signal }: ConnectionOptions): CvmConnection {
  let bearer: string | undefined;
  const keptToken = async ({ refused }: { refused?: string }) => {
    if (bearer === undefined || bearer === refused) bearer = await token(domain);
    return bearer;
  };
  const client = createClient({ baseUrl, domain, token: keptToken, retry });
  return {
    work: () => retryUntilAborted(() => client.listCommands({ cvmID, signal }), { signal }),
    report: async (...given) => {
      const reports = given.map((report) => ({ id: identifierOf(report), ...report })) as Schemas['Report'][];
      const { results } = await retryUntilAborted(() => client.report({ cvmID, body: { reports }, signal }), { signal });
      return results.at(-1)?.run_status ?? null;
    },
  };
}
