import { startSimulatedCvms } from 'computation-management-simulated-cvm';
import { Deadline } from '../shared/runtime/deadline.ts';
import { type RunTimes, stateMachineDefinition } from '../shared/runs/state-machine.ts';
import { openExecutions } from '../shared/runs/executions.ts';
import { routes } from '../shared/endpoints/endpoints.ts';
import { openTable } from '../shared/table/open-table.ts';
import { assertSchemaOfTable } from '../shared/table/schema-version.ts';
import { schedules } from '../shared/tasks/schedules.ts';
import { allowedOrigins, type AllowsOrigin } from './http-api/cors.ts';
import { startBackground, continueInterrupted, type Background } from './functions/background.ts';
import type { ConsoleFiles } from './pages/console-build.ts';
import { consolePages } from './pages/console-pages.ts';
import { lockDirectory } from './machine/data-directory.ts';
import type { CvmGateway, CvmGatewayOptions, startCvmGateway } from './cvms/cvm-gateway.ts';
import { createTable, startDynamoDb, type LocalDynamoDb } from './dynamodb/dynamodb.ts';
import { type HttpApiOptions, startHttpApi } from './http-api/http-api.ts';
import { type Endpoints, local, setEnvironment } from './machine/environment.ts';
import { type InvokeFunction, type LoadHandler, localFunctions } from './functions/local-functions.ts';
import { localKms } from './machine/kms.ts';
import { withHealthOfEngine } from './functions/local-health.ts';
import { DomainGate } from './http-api/closed-domains.ts';
import { localDomains } from './pages/local-domains.ts';
import { LocalUsers } from './pages/local-users.ts';
import { localPages } from './pages/local-pages.ts';
import { runLogDirectory, withRunLogs } from './cvms/run-logs.ts';
import { sendOnlyWhile, sendUnsigned } from './machine/engine-clients.ts';
import { signInPages } from './sign-in/sign-in-pages.ts';
import { systemTimerClock, type TimerClock } from '../shared/runtime/timer-clock.ts';
import { readRegistration } from '../shared/cvms/command-stream.ts';
import { readClaims, type Claim } from '../shared/runs/claim.ts';
import { uploadPrefix } from '../shared/assets/content-store.ts';
import { startLambdaApi } from './functions/lambda-api.ts';
import type { Listening } from './machine/listen.ts';
import { startIssuer, type LocalIssuer } from './sign-in/issuer.ts';
import { startS3, type LocalS3 } from './s3/s3.ts';
import { startStepFunctions, type LocalStepFunctions } from './step-functions/step-functions.ts';

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

/** The whole service on this machine. Only one at a time in a process, because its functions share their environment. */
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

let isRunning = false;

/**
 * Starts every part, connects them by the route table and the definitions, and serves on the loopback interface.
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
  if (options.dataDirectory !== undefined) onStop(lockDirectory(options.dataDirectory));
  const kept = options.dataDirectory === undefined ? {} : { dataDirectory: options.dataDirectory };
  const users = new LocalUsers(options.dataDirectory);
  const keys = localKms(options.dataDirectory);
  const times = { ...localTimes, ...options.times };
  const clock = options.clock ?? systemTimerClock;
  const allowsOrigin = allowedOrigins(options.corsOrigins);
  const draining = new AbortController();
  const functions = localFunctions({ clock, draining: draining.signal, ...(options.load ? { load: options.load } : {}) });
  const runLogs = options.cvmGateway && runLogDirectory(options.dataDirectory);
  const invoke = runLogs === undefined ? functions : withRunLogs(functions, runLogs);
  const background = startBackground(invoke, clock);

  const { onLost } = options;
  const cloud = { ...kept, times, allowsOrigin, invoke, background, clock, onStop, ...(onLost ? { onLost } : {}) };
  const { dynamoDb, s3, stepFunctions, issuer, lambda } = await startLocalCloud(cloud);
  onStop(background.stop);
  await createTable(dynamoDb.endpoint, local.tableName);

  const endpoints = {
    dynamoDb: dynamoDb.endpoint,
    s3: s3.endpoint,
    stepFunctions: stepFunctions.endpoint,
    lambda: lambda.endpoint,
  };
  setEnvironment((await options.intercept?.(endpoints)) ?? endpoints, keys, times, options.logLevel ?? 'SILENT');
  const table = openTable(() => new Deadline());
  const { document } = table;
  sendUnsigned(document, 'dynamodb');
  sendOnlyWhile(dynamoDb.isListening, document);
  sendUnsigned(openExecutions(() => new Deadline()).client, 'states');
  if (options.dataDirectory !== undefined) {
    await assertSchemaOfTable(table);
    await continueInterrupted({ invoke, background, clock, onStop });
  }
  if (options.schedules !== false) for (const { name, everyMinutes } of schedules) background.every(everyMinutes, name);

  const cvmGateway =
    options.cvmGateway && runLogs !== undefined
      ? await loadCvmGateway(options.cvmGateway, { ...kept, clock, logs: runLogs })
      : undefined;
  if (cvmGateway) onStop(cvmGateway.stop);
  const gate = new DomainGate();
  const consoleOptions = {
    clientId: issuer.audience,
    membershipClaim: local.membershipClaim,
    exampleCvm: options.simulator ? 'sim-1' : undefined,
    storage: s3.endpoint,
  };
  const pages = [
    ...(options.consoleFiles ? [consolePages({ files: options.consoleFiles, ...consoleOptions })] : []),
    signInPages(issuer.signIn),
    localPages({
      mintToken: issuer.mintToken,
      enrol: cvmGateway?.enrol,
      manageDomain: localDomains({ users, gate, runLogs }),
    }),
  ];
  const api = await startHttpApi({
    routes,
    authorizer: { issuer: issuer.url, audience: issuer.audience, keys: issuer.keys },
    invoke: withHealthOfEngine(invoke, dynamoDb),
    clock,
    port: options.port,
    gate,
    allowsOrigin,
    localPages: firstOf(pages),
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
  const { startCvmGateway } = await import('./cvms/cvm-gateway.ts');
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

/** Reads the claims on CVMs that nobody registered. The others are real, and take their runs themselves. */
export async function claimsOfSimulatedCvms(): Promise<Claim[]> {
  const table = openTable(() => new Deadline());
  const claims = await readClaims(table);
  const registrations = await Promise.all(claims.map(({ domain, cvm_id }) => readRegistration(table, { domain, cvmId: cvm_id })));
  return claims.filter((_, index) => registrations[index] === undefined);
}

/** What the functions use of AWS, on this machine. */
export interface LocalCloud {
  dynamoDb: LocalDynamoDb;
  s3: LocalS3;
  stepFunctions: LocalStepFunctions;
  issuer: LocalIssuer;
  lambda: Listening;
}

export interface LocalCloudOptions {
  /** The directory of the state. Default: in memory. */
  dataDirectory?: string;
  times: RunTimes;
  allowsOrigin: AllowsOrigin;
  invoke: InvokeFunction;
  background: Background;
  clock: TimerClock;
  /** Called once if the engine of the table has ended for good. */
  onLost?: (error: Error) => void;
  onStop: (stop: () => Promise<void>) => void;
}

/** Starts the parts at the same time. @throws the error of the first part that failed, after all have started or failed */
export async function startLocalCloud(options: LocalCloudOptions): Promise<LocalCloud> {
  const { times, allowsOrigin, invoke, background, clock, onLost, onStop } = options;
  const kept = options.dataDirectory === undefined ? {} : { dataDirectory: options.dataDirectory };
  const started = async <Part extends { stop: () => Promise<void> }>(starting: Promise<Part>): Promise<Part> => {
    const part = await starting;
    onStop(part.stop);
    return part;
  };
  const parts = [
    started(startDynamoDb({ ...kept, ...(onLost ? { onLost } : {}) })),
    started(
      startS3({
        bucket: local.bucketName,
        notifiedPrefix: uploadPrefix,
        allowsOrigin,
        onObjectCreated: (key) => background.invoke('maintenance/receive-upload', { key }),
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
    started(startLambdaApi(background)),
  ] as const;
  await Promise.allSettled(parts); // if one fails, the others are stopped after they have started
  const [dynamoDb, s3, stepFunctions, issuer, lambda] = await Promise.all(parts);
  return { dynamoDb, s3, stepFunctions, issuer, lambda };
}
