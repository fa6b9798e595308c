import { schedules } from '../../infra/schedules.ts';
import { routes } from '../../shared/endpoints/endpoints.ts';
import type { Route } from '../../shared/http/route.ts';
import type { Measured, Measurement } from './measured.ts';
import type { Bill } from './prices.ts';

/** Assumed of one call, where nothing on this machine can be measured. */
export const assumed = {
  /** 3 to 5 ms of processor time were measured for a call; 512 MB have 0.29 of a processor. */
  computeInMilliseconds: 15,
  tableRoundTripInMilliseconds: 5,
  contentRequestInMilliseconds: 30,
  /** One call in a hundred starts cold, which is billed as 300 ms more. */
  coldStartInMilliseconds: 3,
  /** The platform's start and report records, and now and then an entry of ours. */
  functionLogInBytes: 1_000,
  accessLogInBytes: 700,
  /** Of the calls of a busy endpoint. Lambda traces one call a second and 5 % of the others. */
  tracedShare: 0.05,
} as const;

/** Requests to storage that the function makes itself, by function and case. */
const contentRequests: Record<string, { put?: number; get?: number }> = {
  'assets/create-asset, inline': { put: 1 },
  'assets/update-asset, with content': { put: 1 },
  'assets/get-asset, by its creator': { get: 1 },
  'assets/get-asset, by others, recorded': { get: 1 },
  'maintenance/receive-upload, an awaited upload': { get: 1 },
};

/** How long a request is held, by function and case. */
const heldSeconds: Record<string, number> = {
  'events/list-events, held for a second': 1,
  'events/list-events, held for 20 s': 20,
  'events/list-events, held for 20 s, filtered': 20,
  'cvms/list-commands, held for a second': 1,
  'cvms/list-commands, held for 20 s': 20,
};

const waiting = new Set(routes.filter((route: Route) => route.waits).map(({ name }): string => name));

function memoryOf({ name }: Pick<Measurement, 'name'>, stage: Measured['stage']): number {
  return waiting.has(name) ? stage.memoryOfWaitsInMegabytes : stage.memoryInMegabytes;
}

/** Calls of KMS, by function and case. Public keys are read once in the life of a function's process. */
const signatures: Record<string, number> = { 'runs/get-evidence, the first time': 1 };

export const gigabyte = 1e9;

export function titleOf({ name, case: what }: Pick<Measurement, 'name' | 'case'>): string {
  return what === '' ? name : `${name}, ${what}`;
}

/** The share of a processor grows with the memory. The reads of a request that is held do not make it longer. */
export function billedMilliseconds(measurement: Measurement, stage: Measured['stage']): number {
  const { put = 0, get = 0 } = contentRequests[titleOf(measurement)] ?? {};
  const computing = (assumed.computeInMilliseconds * stage.memoryInMegabytes) / memoryOf(measurement, stage);
  const held = heldSeconds[titleOf(measurement)];
  if (held !== undefined) return held * 1000 + computing + assumed.coldStartInMilliseconds;
  return (
    computing +
    assumed.coldStartInMilliseconds +
    measurement.roundTrips * assumed.tableRoundTripInMilliseconds +
    (put + get) * assumed.contentRequestInMilliseconds
  );
}

const scheduled = new Set(schedules.map(({ name }): string => name));

const endpoints = new Set<string>(routes.map(({ name }) => name));

/** Returns whether a call is of an endpoint, rather than of a function that AWS calls. */
export function isEndpoint({ name }: Measurement): boolean {
  return endpoints.has(name);
}

/**
 * What one call of a function costs; an endpoint's comes through the API.
 * @param tracedShare of the calls that are traced, if it is no scheduled function
 */
export function billOf(measurement: Measurement, stage: Measured['stage'], tracedShare: number = assumed.tracedShare): Bill {
  const isByApi = isEndpoint(measurement);
  const { put, get } = contentRequests[titleOf(measurement)] ?? {};
  const signed = signatures[titleOf(measurement)];
  const logged = assumed.functionLogInBytes + (isByApi ? assumed.accessLogInBytes : 0);
  return {
    ...(isByApi ? { 'HTTP API request': 1 } : {}),
    'Lambda request': 1,
    'Lambda GB-second, ARM64': (billedMilliseconds(measurement, stage) / 1000) * (memoryOf(measurement, stage) / 1024),
    'DynamoDB write unit': measurement.writeUnits,
    'DynamoDB read unit': measurement.readUnits,
    ...(put === undefined ? {} : { 'S3 PUT': put }),
    ...(get === undefined ? {} : { 'S3 GET': get }),
    ...(signed === undefined ? {} : { 'KMS signature': signed }),
    'CloudWatch GB logged': logged / gigabyte,
    'X-Ray trace recorded': scheduled.has(measurement.name) ? 0 : tracedShare,
  };
}
