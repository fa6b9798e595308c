import { type SimulatedCvms, startSimulatedCvms } from 'computation-management-simulated-cvm';
import { routes } from '../shared/endpoints/endpoints.ts';
import { systemTimerClock, type TimerClock } from '../shared/runtime/deadline.ts';
import type { CvmGateway, CvmGatewayOptions } from './cvms/cvm-gateway.ts';
import type { InvokeFunction } from './functions/local-functions.ts';
import { ClosedDomains, type HttpApiOptions, startHttpApi } from './http-api/http-api.ts';
import { allowedOrigins, type AllowsOrigin } from './http-api/http-messages.ts';
import { local, type Endpoints } from './machine/environment.ts';
import { consolePages, type ConsolePagesOptions } from './pages/console-pages.ts';
import { localDomains, type LocalDomainsOptions, LocalUsers } from './pages/local-domains.ts';
import { localPages } from './pages/local-pages.ts';
import { signInPages } from './sign-in/sign-in-pages.ts';
import { type LocalStorage, startStorage, withHealthOfEngine } from './storage.ts';
import { mailerOfStage } from '../shared/notifications/index.ts';
import { replaceClient } from '../shared/runtime/clients.ts';
import { runLogDirectory } from './cvms/run-logs.ts';
import { claimsOfSimulatedCvms } from './cvms/simulated-cvms.ts';
import { type FunctionsOptions, prepareFunctions } from './run-functions.ts';
import { lockDirectory } from './machine/data-directory.ts';
import { type parseSmtp, sendBySmtp } from './mail/smtp-mailer.ts';

interface FrontOptions extends Pick<HttpApiOptions, 'onResponse'> {
  /** The TCP port of the API and the pages. 0 selects a free port. */
  port: number;
  /** True if simulated CVMs take the runs. */
  simulator: boolean;
  /** Returns the files of the built web console. Default: the console is not served. */
  consoleFiles?: ConsolePagesOptions['files'];
}

export interface StackOptions extends FrontOptions, FunctionsOptions {
  /** The options of the gateway that serves the agents of real CVMs. Default: no gateway. */
  cvmGateway?: CvmGatewayOptions;
  /** Origins of web pages that may call the API and use presigned links, besides those of this machine. */
  corsOrigins?: readonly string[];
  /** The server through which users get mail about their tasks. Default: no mail is sent. */
  smtp?: ReturnType<typeof parseSmtp>;
  /**
   * Called once if a part, such as the DynamoDB engine, has ended for good, so that the service must stop. The message of the
   * error is for the user.
   */
  onLost?: (error: Error) => void;
}

/**
 * The whole service on this machine. A process has only one at a time, because the functions share the environment variables of
 * the process.
 */
export interface Stack {
  baseUrl: string;
  endpoints: Endpoints;
  tableName: string;
  stateMachineArn: string;
  cvmGateway: CvmGateway | undefined;
  /** Mints a bearer token for a user with memberships `<domainID>:<role>`. */
  token: (sub: string, groups: string[], expiresInSeconds?: number, email?: string) => Promise<string>;
  /** Invokes any function of the service by its name, such as `lifecycle/sweep-runs`. */
  invoke: InvokeFunction;
  stop: () => Promise<void>;
}

let isRunning = false;

/**
 * Starts every part of the service on this machine, connects the parts by the route table and the definition of the state
 * machine, and serves on the loopback interface.
 * @throws Error if another stack of this process has not been stopped
 */
export async function startStack(options: StackOptions): Promise<Stack> {
  if (isRunning) throw new Error('Another service of this process has not been stopped.');
  isRunning = true;
  const stops: (() => Promise<void>)[] = [];
  const stop = async () => {
    try {
      for (const stopPart of stops.splice(0).reverse()) await stopPart();
    } finally {
      isRunning = false;
    }
  };
  try {
    return { ...(await startParts(options, (part) => void stops.push(part))), stop };
  } catch (error) {
    await stop().catch(() => undefined); // the first failure tells more
    throw error;
  }
}

async function startParts(options: StackOptions, onStop: (stop: () => Promise<void>) => void): Promise<Omit<Stack, 'stop'>> {
  const { dataDirectory, clock = systemTimerClock, onLost, testEvidence = false } = options;
  if (dataDirectory !== undefined) onStop(lockDirectory(dataDirectory));
  const users = new LocalUsers(dataDirectory);
  const allowsOrigin = allowedOrigins(options.corsOrigins);
  const runLogs = options.cvmGateway && runLogDirectory(dataDirectory);
  const functions = prepareFunctions(options, runLogs, onStop);
  const { onObjectCreated } = functions;
  const storage = await startStorage({ dataDirectory, allowsOrigin, onObjectCreated, onLost }, onStop);
  const { invoke, endpoints, drain } = await functions.start(storage);
  let cvmGateway: CvmGateway | undefined;
  if (options.cvmGateway && runLogs !== undefined) {
    const { startCvmGateway } = await import('./cvms/cvm-gateway.ts'); // other stacks need not load gRPC and certificates
    cvmGateway = await startCvmGateway(options.cvmGateway, { dataDirectory, clock, logs: runLogs });
    onStop(cvmGateway.stop);
  }
  const behind = { storage, invoke, clock, users, runLogs, cvmGateway, allowsOrigin };
  if (testEvidence && cvmGateway) {
    const { withAttestedCvms } = await import('./cvms/attested-cvms.ts');
    behind.invoke = withAttestedCvms(invoke, { gateway: cvmGateway, dataDirectory }, onStop);
  }
  const port = await startFront(options, behind, onStop);
  const api = `http://localhost:${port}`;
  const page = options.consoleFiles ? `${api}/console/` : api;
  if (options.smtp) replaceClient(mailerOfStage, { send: sendBySmtp(options.smtp), page, api });
  onStop(async () => drain()); // the first to be stopped: requests that are held get their answer
  return {
    baseUrl: api,
    endpoints,
    tableName: local.tableName,
    stateMachineArn: local.stateMachineArn,
    cvmGateway,
    token: (sub, groups, expiresInSeconds, email) => storage.issuer.mintToken({ sub, groups, expiresInSeconds, email }),
    invoke,
  };
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
async function startFront(
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
