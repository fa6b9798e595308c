import { type SimulatedCvms, startSimulatedCvms } from 'computation-management-simulated-cvm';
import { routes } from '../shared/endpoints/endpoints.ts';
import type { TimerClock } from '../shared/runtime/deadline.ts';
import type { CvmGateway } from './cvms/cvm-gateway.ts';
import { claimsOfSimulatedCvms } from './cvms/simulated-cvms.ts';
import type { InvokeFunction } from './functions/local-functions.ts';
import { ClosedDomains, type HttpApiOptions, startHttpApi } from './http-api/http-api.ts';
import type { AllowsOrigin } from './http-api/http-messages.ts';
import { local } from './machine/environment.ts';
import { consolePages, type ConsolePagesOptions } from './pages/console-pages.ts';
import { localDomains, type LocalDomainsOptions } from './pages/local-domains.ts';
import { localPages } from './pages/local-pages.ts';
import { signInPages } from './sign-in/sign-in-pages.ts';
import { type LocalStorage, withHealthOfEngine } from './storage.ts';

export interface FrontOptions extends Pick<HttpApiOptions, 'onResponse'> {
  /** The TCP port of the API and the pages. 0 selects a free port. */
  port: number;
  /** True if simulated CVMs take the runs. */
  simulator: boolean;
  /** Returns the files of the built web console. Default: the console is not served. */
  consoleFiles?: ConsolePagesOptions['files'];
}

/** The parts of the service that work behind its port. */
interface Behind extends Omit<LocalDomainsOptions, 'closedDomains'> {
  storage: LocalStorage;
  invoke: InvokeFunction;
  clock: TimerClock;
  cvmGateway: CvmGateway | undefined;
  allowsOrigin: AllowsOrigin;
}

/**
 * Serves the API, the console, the pages for sign-in and the pages that exist on one machine only, all on one port of the
 * loopback interface. Lets simulated CVMs take runs through the port.
 * @returns the port
 * @throws Error with code EADDRINUSE if the port is taken
 */
export async function startFront(
  { port, simulator, consoleFiles, onResponse }: FrontOptions,
  { storage, invoke, clock, users, runLogs, cvmGateway, allowsOrigin }: Behind,
  onStop: (stop: () => Promise<void>) => void,
): Promise<number> {
  const { dynamoDb, s3, issuer } = storage;
  const closedDomains = new ClosedDomains();
  let cvms: SimulatedCvms | undefined;
  const console =
    consoleFiles &&
    consolePages({
      files: consoleFiles,
      clientId: issuer.audience,
      membershipClaim: local.membershipClaim,
      exampleCvm: simulator ? 'sim-1' : undefined,
      storage: s3.endpoint,
    });
  const ofThisMachine = localPages({
    mintToken: issuer.mintToken,
    enrol: cvmGateway?.enrol,
    manageDomain: localDomains({ users, closedDomains, runLogs }),
    simulatedResult: (runId) => cvms?.resultOf(runId),
  });
  const api = await startHttpApi({
    routes,
    authorizer: { issuer: issuer.url, audience: issuer.audience, keys: issuer.keys },
    invoke: withHealthOfEngine(invoke, dynamoDb),
    clock,
    port,
    closedDomains,
    allowsOrigin,
    pages: [...(console ? [console] : []), signInPages(issuer, allowsOrigin), ofThisMachine],
    onResponse,
  });
  onStop(api.stop);
  if (simulator) {
    cvms = startSimulatedCvms({
      baseUrl: api.endpoint,
      token: (domain) => issuer.mintToken({ sub: 'simulated-cvm', groups: [`${domain}:cvm`] }),
      clock,
      listClaimedCvms: claimsOfSimulatedCvms(),
    });
    onStop(cvms.stop);
  }
  return api.port;
}
