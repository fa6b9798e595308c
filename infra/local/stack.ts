import { uploadPrefix } from '../../shared/assets/content-store.ts';
import { Deadline } from '../../shared/deadline.ts';
import { readClaims } from '../../shared/runs/claim.ts';
import { type RunTimes, stateMachineDefinition } from '../../shared/runs/state-machine.ts';
import { routes } from '../../shared/endpoints/endpoints.ts';
import { openTable } from '../../shared/table/open-table.ts';
import { schedules } from '../schedules.ts';
import { type Background, startBackground } from './background.ts';
import { lockDirectory } from './data/lock-directory.ts';
import { createTable, startDynamoDb } from './dynamodb.ts';
import { type GatewayOptions, startGateway } from './gateway/gateway.ts';
import { startIssuer } from './issuer.ts';
import { type Endpoints, local, setEnvironment } from './local-environment.ts';
import { type InvokeFunction, type LoadHandler, localFunctions } from './local-functions.ts';
import { withHealthOfEngine } from './local-health.ts';
import { localPages } from './local-pages.ts';
import { startS3 } from './s3/s3.ts';
import { startSimulatedCvms } from './simulated-cvms.ts';
import { startStepFunctions } from './step-functions/step-functions.ts';
import { systemTimerClock, type TimerClock } from './timer-clock.ts';

export interface StackOptions {
  /** 0 takes any free port. */
  port: number;
  /** Where state is kept; in memory without. */
  dataDirectory?: string;
  /** Whether simulated CVMs take the runs. */
  simulator: boolean;
  times?: Partial<RunTimes>;
  /** What the functions log: SILENT (default), ERROR, WARN, INFO, DEBUG. */
  logLevel?: string;
  onResponse?: NonNullable<GatewayOptions['onResponse']>;
  /** Called once where a part has ended for good, so that the service can only end; the message is for whoever watches. */
  onLost?: (error: Error) => void;
  /** Finds a function's handler. Default: the one that its file exports. */
  load?: LoadHandler;
  /**
   * The time of functions, executions, schedules and simulated CVMs. Default: the system's. Tokens, presigned links, requests
   * and the intervals of the state machine's retries stay in real time.
   */
  clock?: TimerClock;
  /** Whether the scheduled functions run by themselves. Default true. */
  schedules?: boolean;
  /** Puts proxies before the parts that the functions call; answers with the endpoints that the functions are given. */
  intercept?: (endpoints: Endpoints) => Promise<Endpoints>;
}

/** The whole service on this machine. One per process: the functions read their environment once. */
export interface Stack {
  baseUrl: string;
  endpoints: Endpoints;
  tableName: string;
  bucketName: string;
  stateMachineArn: string;
  /** A bearer token for a user with memberships `<domainID>:<role>`. */
  token: (sub: string, groups: string[], expiresInSeconds?: number) => Promise<string>;
  /** Invokes any function by its name, `lifecycle/sweep-runs` for one. */
  invoke: InvokeFunction;
  stop: () => Promise<void>;
}

/** How long things may take on one machine, where somebody watches. */
const localTimes: RunTimes = { acceptInSeconds: 120, silenceInSeconds: 60, runInSeconds: 24 * 60 * 60, stopInSeconds: 30 };

/** Starts every part, wires them from the route table and the definitions, and answers on the loopback interface. */
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
  const times = { ...localTimes, ...options.times };
  const clock = options.clock ?? systemTimerClock;
  const invoke = localFunctions({ clock, ...(options.load ? { load: options.load } : {}) });
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
  ] as const;
  await Promise.allSettled(parts); // where one fails, the others are stopped once they have started
  const [dynamoDb, s3, stepFunctions, issuer] = await Promise.all(parts);
  onStop(background.stop);
  await createTable(dynamoDb.endpoint, local.tableName);

  const endpoints = { dynamoDb: dynamoDb.endpoint, s3: s3.endpoint, stepFunctions: stepFunctions.endpoint };
  setEnvironment((await options.intercept?.(endpoints)) ?? endpoints, times, options.logLevel ?? 'SILENT');
  if (options.dataDirectory !== undefined) {
    await finishWhatWasCutOff(invoke, background);
    background.invoke('maintenance/migrate', { grace_in_seconds: 0 });
  }
  if (options.schedules !== false) for (const { name, everyMinutes } of schedules) background.every(everyMinutes, name);

  const gateway = await started(
    startGateway({
      routes,
      authorizer: { issuer: issuer.url, audience: issuer.audience, keys: issuer.keys },
      invoke: withHealthOfEngine(invoke, endpoints.dynamoDb),
      clock,
      port: options.port,
      localPages: localPages(issuer.mintToken),
      ...(options.onResponse ? { onResponse: options.onResponse } : {}),
    }),
  );
  if (options.simulator) {
    const cvms = startSimulatedCvms({
      baseUrl: gateway.endpoint,
      token: (domain) => issuer.mintToken({ sub: 'simulated-cvm', groups: [`${domain}:cvm`] }),
      clock,
      listClaimedCvms: () => readClaims(openTable(() => new Deadline())),
    });
    onStop(cvms.stop);
  }
  return {
    baseUrl: `http://localhost:${gateway.port}`,
    endpoints,
    tableName: local.tableName,
    bucketName: local.bucketName,
    stateMachineArn: local.stateMachineArn,
    token: (sub, groups, expiresInSeconds) =>
      issuer.mintToken({ sub, groups, ...(expiresInSeconds === undefined ? {} : { expiresInSeconds }) }),
    invoke,
  };
}

/**
 * Ends the runs that the last end of the service cut off, and goes on with its purges, so that an instance that keeps dying gets
 * to them. A purge that fails does not keep the service from starting: it is tried again in the background.
 */
async function finishWhatWasCutOff(invoke: InvokeFunction, background: Background): Promise<void> {
  try {
    await invoke('lifecycle/sweep-runs', { grace_in_seconds: 0 });
  } catch (error) {
    const reasons = error instanceof AggregateError ? error.errors.map(String).join(' ') : String(error);
    throw new Error(`The runs that were cut off cannot be ended: ${reasons}`, { cause: error });
  }
  for (const name of ['maintenance/purge', 'maintenance/collect-content']) {
    await invoke(name, {}).catch(() => background.invoke(name, {}));
  }
}
