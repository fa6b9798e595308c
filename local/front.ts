import { startSimulatedCvms } from 'computation-management-simulated-cvm';
import { routes } from '../shared/endpoints/endpoints.ts';
import type { TimerClock } from '../shared/runtime/deadline.ts';
import type { CvmGateway } from './cvms/cvm-gateway.ts';
import { claimsOfSimulatedCvms } from './cvms/simulated-cvms.ts';
import type { InvokeFunction } from './functions/local-functions.ts';
import type { AllowsOrigin } from './http-api/cors.ts';
import { ClosedDomains, type HttpApiOptions, startHttpApi } from './http-api/http-api.ts';
import { local } from './machine/environment.ts';
import type { ConsoleFiles } from './pages/console-build.ts';
import { consolePages } from './pages/console-pages.ts';
import { localDomains, type LocalUsers } from './pages/local-domains.ts';
import { localPages } from './pages/local-pages.ts';
import { signInPages } from './sign-in/sign-in-pages.ts';
import { type LocalStorage, withHealthOfEngine } from './storage.ts';

export interface FrontOptions {
  /** The TCP port of the API and the pages. 0 selects a free port. */
  port: number;
  /** True if simulated CVMs take the runs. */
  simulator: boolean;
  /** Returns the files of the built web console. Default: the console is not served. */
  consoleFiles?: () => ConsoleFiles;
  onResponse?: NonNullable<HttpApiOptions['onResponse']>;
}

interface Behind {
  storage: LocalStorage;
  invoke: InvokeFunction;
  clock: TimerClock;
  users: LocalUsers;
  /** The directory of the logs of runs on real CVMs. Undefined without a gateway for real CVMs. */
  runLogs: string | undefined;
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
  options: FrontOptions,
  { storage, invoke, clock, users, runLogs, cvmGateway, allowsOrigin }: Behind,
  onStop: (stop: () => Promise<void>) => void,
): Promise<number> {
  const { dynamoDb, s3, issuer } = storage;
  const closedDomains = new ClosedDomains();
  const pages = [
    ...(options.consoleFiles
      ? [
          consolePages({
            files: options.consoleFiles,
            clientId: issuer.audience,
            membershipClaim: local.membershipClaim,
            exampleCvm: options.simulator ? 'sim-1' : undefined,
            storage: s3.endpoint,
          }),
        ]
      : []),
    signInPages(issuer, allowsOrigin),
    localPages({
      mintToken: issuer.mintToken,
      enrol: cvmGateway?.enrol,
      manageDomain: localDomains({ users, closedDomains, runLogs }),
    }),
  ];
  const api = await startHttpApi({
    routes,
    authorizer: { issuer: issuer.url, audience: issuer.audience, keys: issuer.keys },
    invoke: withHealthOfEngine(invoke, dynamoDb),
    clock,
    port: options.port,
    closedDomains,
    allowsOrigin,
    localPages: async (request, response) => {
      for (const page of pages) if (await page(request, response)) return true;
      return false;
    },
    ...(options.onResponse ? { onResponse: options.onResponse } : {}),
  });
  onStop(api.stop);
  if (options.simulator) {
    const cvms = startSimulatedCvms({
      baseUrl: api.endpoint,
      token: (domain) => issuer.mintToken({ sub: 'simulated-cvm', groups: [`${domain}:cvm`] }),
      clock,
      listClaimedCvms: claimsOfSimulatedCvms,
    });
    onStop(cvms.stop);
  }
  return api.port;
}
