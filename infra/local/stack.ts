import { uploadPrefix } from '../../shared/assets/content-store.ts';
import { Deadline } from '../../shared/deadline.ts';
import { readClaims, type Claim } from '../../shared/runs/claim.ts';
import { type RunTimes, stateMachineDefinition } from '../../shared/runs/state-machine.ts';
import { openExecutions } from '../../shared/runs/executions.ts';
import { readRegistration } from '../../shared/cvms/hold-cvm.ts';
import { routes } from '../../shared/endpoints/endpoints.ts';
import { openTable } from '../../shared/table/open-table.ts';
import { schedules } from '../schedules.ts';
import { allowedOrigins } from './allowed-origins.ts';
import { type Background, startBackground } from './background.ts';
import type { ConsoleFiles } from './console/console-build.ts';
import { consolePages } from './console/console-pages.ts';
import { lockDirectory } from './data/lock-directory.ts';
import type { CvmGateway, CvmGatewayOptions, startCvmGateway } from './cvm-gateway.ts';
import { createTable, startDynamoDb } from './dynamodb.ts';
import { type HttpApiOptions, startHttpApi } from './http-api/http-api.ts';
import { startIssuer } from './issuer.ts';
import { type Endpoints, local, setEnvironment } from './local-environment.ts';
import { type InvokeFunction, type LoadHandler, localFunctions } from './local-functions.ts';
import { withHealthOfEngine } from './local-health.ts';
import { DomainGate } from './domain-gate.ts';
import { localDomains } from './local-domains.ts';
import { LocalUsers } from './local-users.ts';
import { localPages } from './local-pages.ts';
import { startKms } from './kms/kms.ts';
import { startS3 } from './s3/s3.ts';
import { sendUnsigned } from './send-unsigned.ts';
import { signInPages } from './sign-in/sign-in-pages.ts';
import { startSimulatedCvms } from './simulated-cvms.ts';
import { startStepFunctions } from './step-functions/step-functions.ts';
import { pause, systemTimerClock, type TimerClock } from './timer-clock.ts';

export interface StackOptions {
  /** 0 selects a free port. */
  port: number;
  /** The directory of the state. Default: in memory. */
  dataDirectory?: string;
  /** Whether simulated CVMs take the runs. */
  simulator: boolean;
  /** The built web console. Default: it is not served. */
  consoleFiles?: () => ConsoleFiles;
  /** Serves the agents of real CVMs. Default: no gateway. */
  cvmGateway?: CvmGatewayOptions;
  times?: Partial<RunTimes>;
  /** Origins of web pages that may call the API and use presigned links, besides those of this machine. */
  corsOrigins?: readonly string[];
  /** The log level of the functions: SILENT (default), ERROR, WARN, INFO or DEBUG. */
  logLevel?: string;
  onResponse?: NonNullable<HttpApiOptions['onResponse']>;
  /** Called once if a part has ended for good, so that the service must stop. The message is for the user. */
  onLost?: (error: Error) => void;
  /** Loads a function's handler. Default: imports it from the function's file. */
  load?: LoadHandler;
  /**
   * The time of functions, executions, schedules and simulated CVMs. Default: the system clock. Tokens, presigned links,
   * requests and the retry intervals of the state machine use real time.
   */
  clock?: TimerClock;
  /** Whether the scheduled functions run by themselves. Default true. */
  schedules?: boolean;
  /** Puts proxies in front of the parts that the functions call. Returns the endpoints for the functions. */
  intercept?: (endpoints: Endpoints) => Promise<Endpoints>;
}

/** The whole service on this machine. Only one per process, because functions read their environment once. */
export interface Stack {
  baseUrl: string;
  endpoints: Endpoints;
  tableName: string;
  bucketName: string;
  stateMachineArn: string;
  cvmGateway: CvmGateway | undefined;
  /** A bearer token for a user with memberships `<domainID>:<role>`. */
  token: (sub: string, groups: string[], expiresInSeconds?: number) => Promise<string>;
  /** Invokes any function by its name, such as `lifecycle/sweep-runs`. */
  invoke: InvokeFunction;
  stop: () => Promise<void>;
}

/** The time limits on one machine, where a person is watching. */
const localTimes: RunTimes = { acceptInSeconds: 120, silenceInSeconds: 60, runInSeconds: 24 * 60 * 60, stopInSeconds: 30 };

/** How long a start waits for interrupted deletions, which may take minutes. Then they continue in the background. */
const longestWaitInMilliseconds = 10_000;

/** Starts every part, connects them by the route table and the definitions, and serves on the loopback interface. */
export async function startStack(options: StackOptions): Promise<Stack> {
  const stops: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (const stopPart of stops.splice(0).reverse()) await stopPart();
  };
  try {
    return { ...(await startParts(options, (part) => void stops.push(part))), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startParts(options: StackOptions, onStop: (stop: () => Promise<void>) => void): Promise<Omit<Stack, 'stop'>> {
  if (options.dataDirectory !== undefined) onStop(lockDirectory(options.dataDirectory));
  const kept = options.dataDirectory === undefined ? {} : { dataDirectory: options.dataDirectory };
  const users = new LocalUsers(options.dataDirectory);
  const times = { ...localTimes, ...options.times };
  const clock = options.clock ?? systemTimerClock;
  const allowsOrigin = allowedOrigins(options.corsOrigins);
  const draining = new AbortController();
  const invoke = localFunctions({ clock, draining: draining.signal, ...(options.load ? { load: options.load } : {}) });
  const background = startBackground(invoke, clock);

  const started = async <Part extends { stop: () => Promise<void> }>(part: Promise<Part>): Promise<Part> => {
    const { stop } = await part;
    onStop(stop);
    return await part;
  };
  const parts = [
    started(startDynamoDb({ ...kept, ...(options.onLost ? { onLost: options.onLost } : {}) })),
    started(
      startS3({
        bucket: local.bucketName,
        notifiedPrefix: uploadPrefix,
        allowsOrigin,
        onObjectCreated: (event) => background.invoke('maintenance/receive-upload', event),
        ...kept,
      }),
    ),
    started(
      startStepFunctions({
        definition: stateMachineDefinition((step) => `lifecycle/${step}`, times),
        stateMachineArn: local.stateMachineArn,
        invoke,
        clock,
        onStatusChange: (event) => background.invoke('lifecycle/execution-ended', event),
      }),
    ),
    started(startIssuer({ claim: local.membershipClaim, ...kept })),
    started(startKms(kept)),
  ] as const;
  await Promise.allSettled(parts); // if one fails, the others are stopped after they have started
  const [dynamoDb, s3, stepFunctions, issuer, kms] = await Promise.all(parts);
  onStop(background.stop);
  await createTable(dynamoDb.endpoint, local.tableName);

  const endpoints = {
    dynamoDb: dynamoDb.endpoint,
    s3: s3.endpoint,
    stepFunctions: stepFunctions.endpoint,
    kms: kms.place,
  };
  setEnvironment((await options.intercept?.(endpoints)) ?? endpoints, times, options.logLevel ?? 'SILENT');
  sendUnsigned(openTable(() => new Deadline()).document, 'dynamodb');
  sendUnsigned(openExecutions(() => new Deadline()).client, 'states');
  if (options.dataDirectory !== undefined) {
    await resumeInterruptedRuns(invoke);
    const deletions = continueDeletions(invoke, background);
    onStop(() => deletions);
    const waiting = new AbortController();
    await Promise.race([deletions, pause(clock, longestWaitInMilliseconds, waiting.signal)]);
    waiting.abort();
    background.invoke('maintenance/migrate', { grace_in_seconds: 0 });
  }
  if (options.schedules !== false) for (const { name, everyMinutes } of schedules) background.every(everyMinutes, name);

  const consoleOptions = (files: () => ConsoleFiles) => ({
    files,
    clientId: issuer.audience,
    membershipClaim: local.membershipClaim,
    storage: s3.endpoint,
  });
  const cvmGateway = options.cvmGateway && (await started(loadCvmGateway(options.cvmGateway, { ...kept, clock })));
  const gate = new DomainGate();
  const api = await started(
    startHttpApi({
      routes,
      authorizer: { issuer: issuer.url, audience: issuer.audience, keys: issuer.keys },
      invoke: withHealthOfEngine(invoke, endpoints.dynamoDb),
      clock,
      port: options.port,
      gate,
      allowsOrigin,
      localPages: firstOf([
        ...(options.consoleFiles ? [consolePages(consoleOptions(options.consoleFiles))] : []),
        signInPages(issuer.signIn),
        localPages({
          mintToken: issuer.mintToken,
          enrol: cvmGateway?.enrol,
          manageDomain: localDomains({ users, gate, s3: s3.endpoint, runLogs: cvmGateway?.logs }),
        }),
      ]),
      ...(options.onResponse ? { onResponse: options.onResponse } : {}),
    }),
  );
  if (options.simulator) {
    const cvms = startSimulatedCvms({
      baseUrl: api.endpoint,
      token: (domain) => issuer.mintToken({ sub: 'simulated-cvm', groups: [`${domain}:cvm`] }),
      clock,
      listClaimedCvms: claimsOfSimulatedCvms,
    });
    onStop(cvms.stop);
  }
  onStop(async () => draining.abort()); // the first to be stopped: requests that are held get their answer
  return {
    baseUrl: `http://localhost:${api.port}`,
    endpoints,
    tableName: local.tableName,
    bucketName: local.bucketName,
    stateMachineArn: local.stateMachineArn,
    cvmGateway,
    token: (sub, groups, expiresInSeconds) =>
      issuer.mintToken({ sub, groups, ...(expiresInSeconds === undefined ? {} : { expiresInSeconds }) }),
    invoke,
  };
}

/** Starts the gateway for real CVMs. Stacks without one need not load gRPC and certificates. */
const loadCvmGateway: typeof startCvmGateway = async (options, stack) => {
  const { startCvmGateway } = await import('./cvm-gateway.ts');
  return await startCvmGateway(options, stack);
};

type Pages = NonNullable<HttpApiOptions['localPages']>;

/** Lets the first of these pages that knows the path answer. */
function firstOf(pages: readonly Pages[]): Pages {
  return async (request, response) => {
    for (const page of pages) if (await page(request, response)) return true;
    return false;
  };
}

/** Reads the claims on CVMs that nobody registered with a certificate. The others are real, and take their runs themselves. */
async function claimsOfSimulatedCvms(): Promise<Claim[]> {
  const table = openTable(() => new Deadline());
  const claims = await readClaims(table);
  const registrations = await Promise.all(claims.map(({ domain, cvm_id }) => readRegistration(table, { domain, cvmId: cvm_id })));
  return claims.filter((_, index) => registrations[index]?.certificate === undefined);
}

/**
 * Lets the runs go on that were active when the service last ended. Ends those whose outcome was known.
 * @throws Error with the runs for which it cannot
 */
async function resumeInterruptedRuns(invoke: InvokeFunction): Promise<void> {
  try {
    await invoke('lifecycle/sweep-runs', { grace_in_seconds: 0, most_calls: Number.MAX_SAFE_INTEGER, resumes: true });
  } catch (error) {
    const reasons = error instanceof AggregateError ? error.errors.map(String).join(' ') : String(error);
    throw new Error(`Cannot resume the interrupted runs: ${reasons}`, { cause: error });
  }
}

/**
 * Continues the deletions that were interrupted when the service last ended, so that an instance that keeps dying gets to them.
 * A deletion that fails does not prevent the start: it is retried in the background.
 */
async function continueDeletions(invoke: InvokeFunction, background: Background): Promise<void> {
  const names = ['maintenance/purge', 'maintenance/collect-content'];
  await Promise.all(names.map((name) => invoke(name, {}).catch(() => background.invoke(name, {}))));
}
