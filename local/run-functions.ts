import { paginateListObjectsV2 } from '@aws-sdk/client-s3';
import { openContentStore, tokenPrefix, uploadPrefix } from '../shared/rows/content-store.ts';
import { purgeByLambda } from '../shared/deletion/index.ts';
import type { Witness } from '../shared/history/index.ts';
import { openExecutions, stateMachineDefinition } from '../shared/lifecycle/index.ts';
import { replaceClient } from '../shared/runtime/clients.ts';
import type { RunTimes } from '../shared/runtime/environment.ts';
import { systemTimerClock, type TimerClock, Deadline } from '../shared/runtime/deadline.ts';
import { followerKeys, listKeys, rowAt, todoKeys } from '../shared/table/keys.ts';
import { scan } from '../shared/table/scan.ts';
import { assertSchemaOfTable } from '../shared/table/stored.ts';
import { createTableClient, openTable, type Table } from '../shared/table/table.ts';
import { deleteItemIf, putItem } from '../shared/table/writes.ts';
import { positionInStream } from '../shared/todo/index.ts';
import { schedules } from '../shared/tasks/tasks.ts';
import { withRunLogs } from './cvms/run-logs.ts';
import { assertSameRoots, chooseRoots } from './cvms/simulated-cvms.ts';
import { engineClient } from './dynamodb/engine-client.ts';
import { type Endpoints, inProcess, local, setEnvironment } from './machine/environment.ts';
import { localKms } from './machine/kms.ts';
import { callInProcess, type LocalStepFunctions, startStepFunctions } from './step-functions/step-functions.ts';
import type { LocalStorage } from './storage.ts';
import { continueInterrupted, followLog, type Follower, followTable, startBackground } from './functions/background.ts';
import { type LoadHandler, localFunctions } from './functions/local-functions.ts';

export interface FunctionsOptions {
  /** The directory of the service's state. Default: the state is in memory. */
  dataDirectory?: string | undefined;
  /**
   * True if the functions trust public test keys in place of the root certificates of AMD and Intel. With a
   * gateway, simulated CVMs called `sim-attested-...` attest with the test keys. Default: false.
   */
  testEvidence?: boolean;
  times?: Partial<RunTimes>;
  /** The log level of the service's functions: SILENT (default), ERROR, WARN, INFO or DEBUG. */
  logLevel?: string;
  /** The witnesses of the log, which cosign its checkpoints. Default: none. */
  witnesses?: readonly Witness[];
  /** Loads a function's handler. Default: imports it from the function's file. */
  load?: LoadHandler;
  /**
   * The clock of functions, executions, schedules and simulated CVMs. Default: the system clock. Tokens, presigned links,
   * requests and the retry intervals of the state machine use real time.
   */
  clock?: TimerClock;
  /** True if the scheduled functions run by themselves. Default: true. */
  schedules?: boolean;
  /**
   * Puts proxies in front of the parts that the functions call, such as the DynamoDB engine. Returns the endpoints that the
   * functions get.
   */
  intercept?: (endpoints: Endpoints, parts: { stepFunctions: LocalStepFunctions }) => Promise<Endpoints>;
}

/** The default time limits of runs on one machine, where a person is watching. */
const localTimes: RunTimes = { acceptInSeconds: 120, silenceInSeconds: 60, runInSeconds: 24 * 60 * 60, stopInSeconds: 30 };

type OnStop = (stop: () => Promise<void>) => void;

/**
 * Prepares the functions of the service. They are prepared before there is storage, because storage tells them of new objects.
 * @param runLogs the directory of the logs of runs on real CVMs; undefined without a gateway
 * @returns `onObjectCreated` for the storage, and `start`, which sets the functions' environment variables, starts the state
 * machine, continues interrupted runs and deletions, and begins the schedules. `start` throws an Error if kept data cannot be
 * used
 */
export function prepareFunctions(options: FunctionsOptions, runLogs: string | undefined, onStop: OnStop) {
  const { dataDirectory, clock = systemTimerClock, load, testEvidence = false } = options;
  const keys = localKms(dataDirectory);
  const times = { ...localTimes, ...options.times };
  const draining = new AbortController();
  const functions = localFunctions({ clock, draining: draining.signal, ...(load ? { load } : {}) });
  const invoke = runLogs === undefined ? functions : withRunLogs(functions, runLogs);
  const background = startBackground(invoke, clock);

  return {
    onObjectCreated: (key: string): void => {
      if (key.startsWith(uploadPrefix)) background.invoke('maintenance/receive-upload', { key });
      if (key.startsWith(tokenPrefix)) background.invoke('attestation/verify-token', { key });
    },
    start: async ({ dynamoDb, s3 }: LocalStorage) => {
      const stepFunctions = startStepFunctions({
        definition: stateMachineDefinition((step) => `lifecycle/${step}`, times),
        stateMachineArn: local.stateMachineArn,
        invoke,
        clock,
        onStatusChange: (event) => background.invoke('lifecycle/execution-ended', event),
      });
      let follower: Follower | undefined;
      onStop(async () => {
        await follower?.stop();
        if (follower && dataDirectory !== undefined) await putItem(table, { ...followerKeys.end }); // all changes have been followed
      });
      onStop(stepFunctions.stop); // before the follower, which follows what it changes
      onStop(background.stop);
      const ofParts = { dynamoDb: dynamoDb.endpoint, s3: s3.endpoint, stepFunctions: inProcess };
      const endpoints = (await options.intercept?.(ofParts, { stepFunctions })) ?? ofParts;
      if (endpoints.s3 !== s3.endpoint) s3.answerFor(endpoints.s3);
      setEnvironment(endpoints, keys, times, { logLevel: options.logLevel ?? 'SILENT', witnesses: options.witnesses });
      chooseRoots(testEvidence);
      replaceClient(purgeByLambda, async () => background.invoke('maintenance/purge', {}));
      replaceClient(createTableClient, engineClient(endpoints.dynamoDb, dynamoDb.isListening));
      const table = openTable(() => new Deadline());
      const { client: executions } = openExecutions(() => new Deadline());
      if (endpoints.stepFunctions === inProcess) callInProcess(executions, stepFunctions.answer);
      if (dataDirectory !== undefined) {
        await assertSchemaOfTable(table);
        await assertSameRoots(table, testEvidence);
      }
      const isFollowed = dataDirectory !== undefined && (await endedInOrder(table));
      if (options.schedules !== false) {
        follower = followTable(table.document, invoke, clock);
        const { followedUntil } = follower;
        replaceClient(positionInStream, () => Promise.resolve(new Date(followedUntil()).toISOString()));
        if (dataDirectory !== undefined && !isFollowed) await followAllRows(table, follower);
      }
      if (dataDirectory !== undefined) {
        await continueInterrupted({ invoke, background, clock, onStop });
        for await (const key of keysOf(tokenPrefix)) background.invoke('attestation/verify-token', { key }); // its event may be lost
      }
      await invoke('maintenance/integrate-log', {}).catch(() => undefined); // publishes the first checkpoint; the schedule tries again
      onStop(followLog(table.document, invoke));
      if (options.schedules !== false) {
        for (const { name, everyMinutes } of schedules) background.every(everyMinutes, name);
      }
      // The endpoints are those of the parts themselves, without proxies. `drain` lets requests that wait get their answer now.
      return { invoke, endpoints: ofParts, drain: () => draining.abort() };
    },
  };
}

/** Tells whether all changes had been followed when the service last ended, and forgets it. */
async function endedInOrder(table: Table): Promise<boolean> {
  return await deleteItemIf(table, followerKeys.end, { ConditionExpression: 'attribute_exists(pk)' });
}

/**
 * Has all computations, assets, CVMs and runs followed, also those that are deleted, since nothing tells which of them changed before the
 * service was killed.
 */
async function followAllRows(table: Table, { follow }: Follower): Promise<void> {
  const filter = {
    FilterExpression: 'begins_with(sk, :row) OR begins_with(pk, :todo)',
    ExpressionAttributeValues: { ':row': listKeys.prefixes.row, ':todo': todoKeys.prefix },
  };
  for await (const items of scan(table, { filter, attributes: ['pk', 'sk'] })) {
    const keys = items.map(({ pk, sk }) => ({ pk: String(pk), sk: String(sk) }));
    for (const key of keys.map((key) => todoKeys.rowOf(key) ?? key)) if (rowAt(key)) follow(key);
  }
}

/** Yields the keys of the objects in object storage that have a prefix. */
async function* keysOf(Prefix: string): AsyncGenerator<string> {
  const { client, bucket: Bucket } = openContentStore(() => new Deadline());
  for await (const { Contents = [] } of paginateListObjectsV2({ client }, { Bucket, Prefix })) {
    yield* Contents.flatMap(({ Key }) => Key ?? []);
  }
}
