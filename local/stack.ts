import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { paginateListObjectsV2 } from '@aws-sdk/client-s3';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { attests, type SimulatedCvms, startSimulatedCvms, testRoot } from 'computation-management-simulated-cvm';
import { openContentStore, tokenPrefix, uploadPrefix } from '../shared/rows/content-store.ts';
import { purgeByLambda } from '../shared/deletion/index.ts';
import { readRegistration } from '../shared/rows/command-stream.ts';
import { replaceClient } from '../shared/runtime/clients.ts';
import { Deadline, systemTimerClock, type TimerClock } from '../shared/runtime/deadline.ts';
import { registerCvmRoute } from '../shared/endpoints/cvms.ts';
import { rootsOfMakers } from '../shared/attestation/index.ts';
import { routes } from '../shared/endpoints/endpoints.ts';
import { healthRoute } from '../shared/endpoints/service.ts';
import { ServiceError } from '../shared/runtime/errors.ts';
import { problemResponse } from '../shared/http/problem.ts';
import { readClaims, type Claim } from '../shared/rows/claim.ts';
import { openExecutions, type RunTimes, stateMachineDefinition } from '../shared/lifecycle/index.ts';
import { schemaKeys } from '../shared/table/keys.ts';
import { createTableClient, openTable, type Table } from '../shared/table/table.ts';
import { putItemIf } from '../shared/table/writes.ts';
import type { CvmGateway, CvmGatewayOptions } from './cvms/cvm-gateway.ts';
import { runLogDirectory, withRunLogs } from './cvms/run-logs.ts';
import { createTable, startDynamoDb, type LocalDynamoDb } from './dynamodb/dynamodb.ts';
import { engineClient } from './dynamodb/engine-client.ts';
import { continueInterrupted, startBackground } from './functions/background.ts';
import { followTable } from './functions/follow-table.ts';
import { type InvokeFunction, type LoadHandler, localFunctions } from './functions/local-functions.ts';
import { ClosedDomains } from './http-api/closed-domains.ts';
import { allowedOrigins } from './http-api/cors.ts';
import { type HttpApiOptions, startHttpApi } from './http-api/http-api.ts';
import { lockDirectory } from './machine/data-directory.ts';
import { type Endpoints, inProcess, local, setEnvironment } from './machine/environment.ts';
import { portWithoutPages } from './machine/listen.ts';
import { localKms } from './machine/kms.ts';
import { callInProcess } from './machine/call-in-process.ts';
import type { ConsoleFiles } from './pages/console-build.ts';
import { consolePages } from './pages/console-pages.ts';
import { localDomains, LocalUsers } from './pages/local-domains.ts';
import { localPages } from './pages/local-pages.ts';
import { startS3 } from './s3/s3.ts';
import { openIssuer } from './sign-in/issuer.ts';
import { signInPages } from './sign-in/sign-in-pages.ts';
import { type LocalStepFunctions, startStepFunctions } from './step-functions/step-functions.ts';
import { assertSchemaOfTable } from '../shared/table/stored.ts';
import { schedules } from '../shared/tasks/tasks.ts';

export interface StackOptions {
  /** 0 selects a free port. */
  port: number;
  /** The directory of the state. Default: in memory. */
  dataDirectory?: string | undefined;
  /** Whether simulated CVMs take the runs. */
  simulator: boolean;
  /**
   * Trusts public test keys in place of the roots of AMD and Intel. Simulated CVMs called `sim-attested-...` attest with them when they
   * are registered. Default false.
   */
  testEvidence?: boolean;
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
  intercept?: (endpoints: Endpoints, parts: { stepFunctions: LocalStepFunctions }) => Promise<Endpoints>;
}

/** The whole service on this machine. Only one at a time in a process, because its functions share their environment. */
export interface Stack {
  baseUrl: string;
  endpoints: Endpoints;
  tableName: string;
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

const healthTimeoutInMilliseconds = 2_000;

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
  const { dataDirectory, clock = systemTimerClock, load, onLost } = options;
  if (dataDirectory !== undefined) onStop(lockDirectory(dataDirectory));
  const users = new LocalUsers(dataDirectory);
  const keys = localKms(dataDirectory);
  const times = { ...localTimes, ...options.times };
  const allowsOrigin = allowedOrigins(options.corsOrigins);
  const draining = new AbortController();
  const functions = localFunctions({ clock, draining: draining.signal, ...(load ? { load } : {}) });
  const runLogs = options.cvmGateway && runLogDirectory(dataDirectory);
  const invoke = runLogs === undefined ? functions : withRunLogs(functions, runLogs);
  const background = startBackground(invoke, clock);

  const started = async <Part extends { stop: () => Promise<void> }>(starting: Promise<Part>): Promise<Part> => {
    const part = await starting;
    onStop(part.stop);
    return part;
  };
  const starting = [
    started(startDynamoDb({ dataDirectory, findPort: portWithoutPages, ...(onLost ? { onLost } : {}) })),
    started(
      startS3({
        bucket: local.bucketName,
        notifiedPrefix: 'content/',
        allowsOrigin,
        onObjectCreated: (key) => {
          if (key.startsWith(uploadPrefix)) background.invoke('maintenance/receive-upload', { key });
          if (key.startsWith(tokenPrefix)) background.invoke('attestation/verify-token', { key });
        },
        dataDirectory,
      }),
    ),
    openIssuer({ claim: local.membershipClaim, dataDirectory }),
  ] as const;
  await Promise.allSettled(starting); // if one fails, the others are stopped after they have started
  const [dynamoDb, s3, issuer] = await Promise.all(starting);
  const stepFunctions = startStepFunctions({
    definition: stateMachineDefinition((step) => `lifecycle/${step}`, times),
    stateMachineArn: local.stateMachineArn,
    invoke,
    clock,
    onStatusChange: (event) => background.invoke('lifecycle/execution-ended', event),
  });
  onStop(stepFunctions.stop);
  onStop(background.stop);
  await createTable(dynamoDb.endpoint, local.tableName);

  const ofParts = { dynamoDb: dynamoDb.endpoint, s3: s3.endpoint, stepFunctions: inProcess };
  const endpoints = (await options.intercept?.(ofParts, { stepFunctions })) ?? ofParts;
  if (endpoints.s3 !== s3.endpoint) s3.answerFor(endpoints.s3);
  setEnvironment(endpoints, keys, times, options.logLevel ?? 'SILENT');
  replaceClient(rootsOfMakers, options.testEvidence ? { roots: [Buffer.from(testRoot())] } : {});
  replaceClient(purgeByLambda, async () => background.invoke('maintenance/purge', {}));
  replaceClient(createTableClient, engineClient(endpoints.dynamoDb, dynamoDb.isListening));
  const table = openTable(() => new Deadline());
  const { client: executions } = openExecutions(() => new Deadline());
  if (endpoints.stepFunctions === inProcess) callInProcess(executions, stepFunctions.answer);
  if (dataDirectory !== undefined) {
    await assertSchemaOfTable(table);
    await assertSameRoots(table, options.testEvidence === true);
    await continueInterrupted({ invoke, background, clock, onStop });
    for await (const key of keysOf(tokenPrefix)) background.invoke('attestation/verify-token', { key }); // its event may be lost
  }
  if (options.schedules !== false) {
    for (const { name, everyMinutes } of schedules) background.every(everyMinutes, name);
    onStop(followTable(table.document, invoke));
  }

  let cvmGateway: CvmGateway | undefined;
  if (options.cvmGateway && runLogs !== undefined) {
    const { startCvmGateway } = await import('./cvms/cvm-gateway.ts'); // other stacks need not load gRPC and certificates
    cvmGateway = await started(startCvmGateway(options.cvmGateway, { dataDirectory, clock, logs: runLogs }));
  }
  const closedDomains = new ClosedDomains();
  let cvms: SimulatedCvms | undefined;
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
  const api = await started(
    startHttpApi({
      routes,
      authorizer: { issuer: issuer.url, audience: issuer.audience, keys: issuer.keys },
      invoke: withHealthOfEngine(options.testEvidence ? withEvidence(invoke, () => cvms) : invoke, dynamoDb),
      clock,
      port: options.port,
      closedDomains,
      allowsOrigin,
      localPages: async (request, response) => {
        for (const page of pages) if (await page(request, response)) return true;
        return false;
      },
      ...(options.onResponse ? { onResponse: options.onResponse } : {}),
    }),
  );
  if (options.simulator) {
    cvms = startSimulatedCvms({
      baseUrl: api.endpoint,
      token: (domain) => issuer.mintToken({ sub: 'simulated-cvm', groups: [`${domain}:cvm`] }),
      clock,
      listClaimedCvms: () => claimsOfSimulatedCvms(options.testEvidence),
    });
    onStop(cvms.stop);
  }
  onStop(async () => draining.abort()); // the first to be stopped: requests that are held get their answer
  return {
    baseUrl: `http://localhost:${api.port}`,
    endpoints: ofParts,
    tableName: local.tableName,
    stateMachineArn: local.stateMachineArn,
    cvmGateway,
    token: (sub, groups, expiresInSeconds) =>
      issuer.mintToken({ sub, groups, ...(expiresInSeconds === undefined ? {} : { expiresInSeconds }) }),
    invoke,
  };
}

/** The keys of the objects with a prefix. */
async function* keysOf(Prefix: string): AsyncGenerator<string> {
  const { client, bucket: Bucket } = openContentStore(() => new Deadline());
  for await (const { Contents = [] } of paginateListObjectsV2({ client }, { Bucket, Prefix })) {
    yield* Contents.flatMap(({ Key }) => Key ?? []);
  }
}

/** Makes `/health` answer 503 while the DynamoDB engine does not answer, which nothing else monitors on one machine. */
export function withHealthOfEngine(invoke: InvokeFunction, engine: LocalDynamoDb): InvokeFunction {
  return async (name, event) => {
    if (name === healthRoute.name && !(await answers(engine))) {
      const { requestId } = (event as APIGatewayProxyEventV2).requestContext;
      return problemResponse(new ServiceError('unavailable', 'The DynamoDB engine does not answer.'), requestId);
    }
    return await invoke(name, event);
  };
}

async function answers({ endpoint, isListening }: LocalDynamoDb): Promise<boolean> {
  if (!isListening()) return false;
  try {
    const request = get(endpoint, { signal: AbortSignal.timeout(healthTimeoutInMilliseconds) }); // fetch refuses the port
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    response.resume();
    return true;
  } catch {
    return false;
  }
}

/** Lets a simulated CVM attest after it was registered with a certificate. */
function withEvidence(invoke: InvokeFunction, cvms: () => SimulatedCvms | undefined): InvokeFunction {
  return async (name, event) => {
    const answer = await invoke(name, event);
    if (name !== registerCvmRoute.name || (answer as { statusCode: number }).statusCode >= 300) return answer;
    const { pathParameters, body } = event as APIGatewayProxyEventV2;
    const { domainID: domain = '', cvmID: cvm_id = '' } = pathParameters ?? {};
    const { certificate } = JSON.parse(body ?? '') as { certificate?: string | null };
    if (certificate && attests(cvm_id)) cvms()?.attest({ domain, cvm_id, certificate });
    return answer;
  };
}

/** Reads the claims on CVMs that nobody registered. The others are real, and take their runs themselves, unless they attest here. */
export async function claimsOfSimulatedCvms(testEvidence = false): Promise<Claim[]> {
  const table = openTable(() => new Deadline());
  const claims = await readClaims(table);
  const registrations = await Promise.all(claims.map(({ domain, cvm_id }) => readRegistration(table, { domain, cvmId: cvm_id })));
  const isSimulated = ({ cvm_id }: Claim, index: number) =>
    registrations[index] === undefined || (testEvidence && attests(cvm_id));
  return claims.filter(isSimulated);
}

/** The data has verdicts, which stay: it is used with the roots that it was begun with. @throws Error */
async function assertSameRoots(table: Table, testEvidence: boolean): Promise<void> {
  const ConditionExpression = 'attribute_not_exists(pk) OR test_evidence = :value';
  const condition = { ConditionExpression, ExpressionAttributeValues: { ':value': testEvidence } };
  if (await putItemIf(table, { ...schemaKeys.roots, test_evidence: testEvidence }, condition)) return;
  const made = testEvidence ? 'without' : 'with';
  throw new Error(`The data was made ${made} --test-evidence. Start ${made} it, or choose another directory.`);
}
