import { taskMemoryInMebibytes } from '../../infra/gateway/task-settings.ts';
import { schedules } from '../../infra/schedules.ts';
import { routes } from '../../shared/endpoints/endpoints.ts';
import { metricUnits } from '../../shared/metrics.ts';
import { billOf, gigabyte, titleOf } from './call-bill.ts';
import type { Measured } from './measured.ts';
import { addUp, type Bill } from './prices.ts';
import type { Tenant } from './tenants.ts';
import { transitionsOf } from './transitions.ts';

/** How CVMs and clients are assumed to behave. */
export const behaviour = {
  pollInSeconds: 5,
  heartbeatInSeconds: 30,
  /** A CVM is up, and polls, before and after its run: so long together. */
  idleMinutesPerRun: 10,
  eventsPerRun: 8,
  /** The status is asked for while a run lasts. */
  statusInSeconds: 30,
  stoppedShare: 0.05,
  keysPerComputation: 3,
  /** Rows, events and runs of a computation. */
  tableBytesPerComputation: 40_000,
  /** What an execution logs of its states. */
  executionLogInBytes: 10_000,
} as const;

/** Bills of functions by their titles. @throws TypeError for one that was not measured */
export function pricedBy(measured: Measured): (title: string) => Bill {
  const byApi = new Set<string>(routes.map(({ name }) => name));
  const bills = new Map(measured.functions.map((each) => [titleOf(each), billOf(each, byApi.has(each.name), measured.stage)]));
  return (title) => {
    const bill = bills.get(title);
    if (!bill) throw new TypeError(`${title} was not measured.`);
    return bill;
  };
}

function executionBill(action: 'run' | 'stop'): Bill {
  return {
    'Step Functions transition': transitionsOf(action),
    'CloudWatch GB logged': behaviour.executionLogInBytes / gigabyte,
  };
}

/** What belongs to a run: from its dry run to its last event, its CVM's polling included. */
export function runBills(measured: Measured, minutes: number): Record<string, Bill> {
  const priced = pricedBy(measured);
  const polls = ((minutes + behaviour.idleMinutesPerRun) * 60) / behaviour.pollInSeconds;
  return {
    'dry run, start': addUp([
      [1, priced('runs/dry-run')],
      [1, priced('runs/start-run')],
    ]),
    'state machine and its steps': addUp([
      [1, executionBill('run')],
      [1, priced('lifecycle/offer-run')],
      [1, priced('lifecycle/await-cvm')],
      [1, priced('lifecycle/record-outcome')],
    ]),
    [`polling every ${behaviour.pollInSeconds} s`]: addUp([
      [polls, priced('cvms/list-commands, none')],
      [1, priced('cvms/list-commands, a run')],
    ]),
    [`heartbeats every ${behaviour.heartbeatInSeconds} s`]: addUp([
      [(minutes * 60) / behaviour.heartbeatInSeconds, priced('cvms/report, a heartbeat')],
    ]),
    'other reports': addUp([
      [1, priced('cvms/report, acceptance')],
      [behaviour.eventsPerRun, priced('cvms/report, an event')],
      [1, priced('cvms/report, the end')],
    ]),
  };
}

/** The longest wait. */
export const heldInSeconds = 20;

/** An hour of a client that watches a computation in which nothing happens: it always has a request that is held. */
export function watchedHourBill(measured: Measured): Bill {
  return addUp([[3600 / heldInSeconds, pricedBy(measured)('events/list-events, held for 20 s')]]);
}

/** An hour of a client that asks for the status every 5 seconds instead. */
export function statusPollingBill(measured: Measured): Bill {
  return addUp([[3600 / 5, pricedBy(measured)('events/get-status')]]);
}

/** A month of a CVM without a run that always has a request for commands that is held. */
export function waitingCvmBill(measured: Measured): Bill {
  return addUp([[(minutesPerMonth * 60) / heldInSeconds, pricedBy(measured)('cvms/list-commands, held for 20 s')]]);
}

/** A stop on top of a run: the request, the execution and its steps. */
export function stopBill(measured: Measured): Bill {
  const priced = pricedBy(measured);
  return addUp([
    [1, priced('runs/stop-run')],
    [1, executionBill('stop')],
    [1, priced('lifecycle/deliver-stop')],
    [1, priced('lifecycle/complete-stop')],
  ]);
}

/** A tenant's month by what causes it, without the stage's own cost. */
export function monthBills(measured: Measured, tenant: Tenant): Record<string, Bill> {
  const priced = pricedBy(measured);
  const { computations, runs, minutesPerRun, uploads, pageViews } = tenant;
  const run = runBills(measured, minutesPerRun);
  const polling = `polling every ${behaviour.pollInSeconds} s`;
  const { [polling]: polls = {}, ...rest } = run;
  const uploadedGigabytes = (uploads * tenant.megabytesPerUpload) / 1000;
  const tableGigabytes = (computations * tenant.monthsKept * behaviour.tableBytesPerComputation) / gigabyte;
  return {
    'computations, keys, assets': addUp([
      [computations, priced('computations/create-computation')],
      [computations, priced('computations/update-computation')],
      [computations, priced('computations/delete-computation, with a link and a run')],
      [computations, priced('maintenance/purge, a computation with a run')],
      [computations * behaviour.keysPerComputation, priced('keys/upload-key')],
      [uploads, priced('assets/create-asset, to be uploaded')],
      [uploads, { 'S3 PUT': 1 }],
      [uploads, priced('maintenance/receive-upload, an awaited upload')],
      [uploads, priced('assets/link-asset')],
    ]),
    'runs and stops': addUp([
      ...Object.values(rest).map((bill) => [runs, bill] as const),
      [runs * behaviour.stoppedShare, stopBill(measured)],
    ]),
    [polling]: addUp([[runs, polls]]),
    'reading the status': addUp([[(runs * minutesPerRun * 60) / behaviour.statusInSeconds, priced('events/get-status')]]),
    'page views': addUp([
      [pageViews, priced('computations/list-computations, first page')],
      [pageViews, priced('computations/get-computation, whole')],
      [pageViews, priced('events/list-events, first page')],
      [pageViews, priced('events/get-status')],
      [pageViews, priced('statistics/get-statistics, 7 days')],
    ]),
    storage: {
      'S3 GB-month stored': uploadedGigabytes * tenant.monthsKept,
      'DynamoDB GB-month stored': tableGigabytes,
      'DynamoDB GB-month of point-in-time recovery': tableGigabytes,
    },
    downloads: { 'GB sent to the internet': uploadedGigabytes, 'S3 GET': uploads },
  };
}

const minutesPerMonth = 30 * 24 * 60;

/** Metrics that a stage writes only while requests fail: charged for these hours alone. */
export const metricsOfFailures = ['RequestsFailed'] as const;

/** Metrics that only a gateway writes. */
const metricsOfGateways = [
  'ConnectedCvms',
  'MissingForwarders',
  'SpentCvms',
  'OutboxAge',
  'IdentityConflicts',
  'StreamsRefused',
  'ReportsDropped',
  'CertificateDays',
] as const satisfies (keyof typeof metricUnits)[];

/** `RunsEnded` has one metric for each of three outcomes, `Waiting` one for each of two tasks. */
const ownMetrics = Object.keys(metricUnits).length - metricsOfFailures.length - metricsOfGateways.length + 2 + 1;

const hoursPerMonth = 730;

/** What a row's gateway is priced with: the least that a stage may have. */
export const gatewayTasks = 2;

/** The pace of a gateway (gateway/pace.ts). */
const commandReadsInSeconds = 0.5;
const presenceInSeconds = 45;

/** Between two reads of an idle agent's record, for the lines of its log (gateway/session/unplaced-messages.ts). */
const recordInSeconds = 300;
const leaseInSeconds = 10;
const letterReadsInSeconds = 0.5;

/** Four partitions, of which each query takes a unit. */
const readUnitsPerLook = 4;

/** The monthly cost of a gateway without CVMs. The zones of its load balancer and its tasks have a public address each. */
export function gatewayBills(): Record<string, Bill> {
  const secondsPerMonth = hoursPerMonth * 3600;
  return {
    [`${gatewayTasks} tasks`]: {
      'Fargate vCPU-hour, ARM64': gatewayTasks * 0.25 * hoursPerMonth,
      'Fargate GB-hour, ARM64': gatewayTasks * (taskMemoryInMebibytes / 1024) * hoursPerMonth,
    },
    'addresses of the tasks': { 'public IPv4 address, hour': gatewayTasks * hoursPerMonth },
    'load balancer': { 'Network Load Balancer hour': hoursPerMonth },
    'addresses of the load balancer': { 'public IPv4 address, hour': 2 * hoursPerMonth },
    'reading the commands': { 'DynamoDB read unit': (gatewayTasks * readUnitsPerLook * secondsPerMonth) / commandReadsInSeconds },
    'leases of gateways, and letters between them': {
      'DynamoDB write unit': (gatewayTasks * secondsPerMonth) / leaseInSeconds,
      'DynamoDB read unit': (gatewayTasks * secondsPerMonth) / letterReadsInSeconds,
    },
    'key of the authority, secret of the certificate': { 'KMS key, month': 1, 'Secrets Manager secret, month': 1 },
    'alarms, metrics': {
      'CloudWatch alarm metric, month': 10,
      'CloudWatch custom metric, month': metricsOfGateways.length,
    },
  };
}

/**
 * The monthly cost of a connected CVM without a run: the read that compares its registration with its streams, the read of its
 * agent's record, and what its two connections take of the load balancer's capacity. A unit has 100,000 connections, or one
 * gigabyte an hour.
 */
export function connectedCvmBill(): Bill {
  const ofConnections = 2 / 100_000;
  const ofTraffic = bytesPerIdleHour / gigabyte;
  return {
    'DynamoDB read unit': hoursPerMonth * 3600 * (1 / presenceInSeconds + 1 / recordInSeconds),
    'Network Load Balancer capacity unit, hour': Math.max(ofConnections, ofTraffic) * hoursPerMonth,
    'GB sent to the internet': (hoursPerMonth * bytesPerIdleHour) / 2 / gigabyte,
  };
}

/** PINGs every 30 seconds on two connections, a question for the state every 25 seconds, and their answers: both directions, with TLS and TCP. */
const bytesPerIdleHour = 2 * (3600 / 30) * 300 + (3600 / 25) * 700;

/** How a pipe reads a stream: each part of it, four times a second. A new table on demand has four parts. */
const streamReadsPerSecond = 4;
export const partsOfStream = 4;

/** The monthly cost of an event bus without events. */
export function busBills(): Record<string, Bill> {
  return {
    'reading the stream': { 'DynamoDB stream read': partsOfStream * streamReadsPerSecond * hoursPerMonth * 3600 },
    alarms: { 'CloudWatch alarm metric, month': 5 },
  };
}

/** An event of up to 64 KB on the bus, if the pipe reads it alone. */
export function busEventBill(): Bill {
  return { 'EventBridge Pipes request': 1, 'EventBridge event put on a bus': 1 };
}

/** What the page prices a canary with. */
export const canaryMinutes = 15;
const secondsOfCanary = 15;
const canaryMegabytes = 256;

/** The monthly cost of a canary: the secret, its alarms, and what it does at each call. */
export function canaryBills(measured: Measured): Record<string, Bill> {
  const priced = pricedBy(measured);
  const calls = minutesPerMonth / canaryMinutes;
  const of = (bill: Bill): Bill => addUp([[calls, bill]]);
  return {
    'secret, alarms': { 'Secrets Manager secret, month': 1, 'CloudWatch alarm metric, month': 2 },
    'its function': of({
      'Lambda request': 1,
      'Lambda GB-second, ARM64': (secondsOfCanary * canaryMegabytes) / 1024,
      'CloudWatch GB logged': 2_000 / gigabyte,
    }),
    'a computation, a key, two assets, and their deletion': of(
      addUp([
        [1, priced('computations/list-computations, first page')],
        [1, priced('assets/list-assets, first page')],
        [1, priced('computations/create-computation')],
        [1, priced('keys/upload-key')],
        [1, priced('assets/create-asset, inline')],
        [1, priced('assets/create-asset, to be uploaded')],
        [1, { 'S3 PUT': 1 }],
        [1, priced('maintenance/receive-upload, an awaited upload')],
        [5, priced('assets/get-asset, by its creator')],
        [2, priced('assets/link-asset')],
        [1, priced('computations/delete-computation, with a link and a run')],
        [2, priced('assets/delete-asset, not linked')],
        [1, priced('maintenance/purge, a computation with a run')],
      ]),
    ),
    'a run': of(
      addUp([
        [1, priced('runs/dry-run')],
        [1, priced('runs/start-run')],
        [1, executionBill('run')],
        [1, priced('lifecycle/offer-run')],
        [1, priced('lifecycle/await-cvm')],
        [1, priced('lifecycle/record-outcome')],
        [secondsOfCanary, priced('cvms/list-commands, none')],
        [1, priced('cvms/report, acceptance')],
        [6, priced('cvms/report, an event')],
        [1, priced('cvms/report, the end')],
        [8, priced('events/list-events, held for a second')],
        [4, priced('runs/get-run, the latest')],
        [1, priced('runs/get-evidence, the first time')],
      ]),
    ),
  };
}

/** The monthly cost of a stage that nobody uses. */
export function stageBills(measured: Measured): Record<string, Bill> {
  const priced = pricedBy(measured);
  const cases: Record<(typeof schedules)[number]['name'], string> = {
    'lifecycle/sweep-runs': 'lifecycle/sweep-runs, nothing to do',
    'maintenance/purge': 'maintenance/purge, nothing to do',
    'maintenance/collect-content': 'maintenance/collect-content, one note',
    'maintenance/fold-lists': 'maintenance/fold-lists, nothing to do',
    'maintenance/migrate': 'maintenance/migrate, nothing to do',
  };
  return {
    alarms: { 'CloudWatch alarm metric, month': measured.stage.alarmMetrics },
    'keys of the stage': { 'KMS key, month': measured.stage.keys },
    dashboard: { 'CloudWatch dashboard, month': measured.stage.dashboards },
    'custom metrics': { 'CloudWatch custom metric, month': ownMetrics },
    schedules: addUp(schedules.map(({ name, everyMinutes }) => [minutesPerMonth / everyMinutes, priced(cases[name])])),
  };
}
