import { taskMemoryInMebibytes } from '../../infra/gateway/task-settings.ts';
import type { metricUnits } from '../../shared/metrics.ts';
import { gigabyte } from './call-bill.ts';
import { hoursPerMonth } from './month.ts';
import type { Bill } from './prices.ts';

/** Metrics that only a gateway writes. */
export const metricsOfGateways = [
  'ConnectedCvms',
  'MissingForwarders',
  'SpentCvms',
  'OutboxAge',
  'IdentityConflicts',
  'StreamsRefused',
  'ReportsDropped',
  'CertificateDays',
] as const satisfies (keyof typeof metricUnits)[];

/** What a row's gateway is priced with: the least that a stage may have. */
export const gatewayTasks = 2;

/** The timings of a gateway (gateway/gateway-timings.ts). */
const commandReadsInSeconds = 0.5;
const presenceInSeconds = 45;

/** Between two reads of an idle agent's record, for the lines of its log (gateway/session/pending-messages.ts). */
const recordInSeconds = 300;
const leaseInSeconds = 10;
const messageReadsInSeconds = 0.5;

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
    'leases of gateways, and messages between them': {
      'DynamoDB write unit': (gatewayTasks * secondsPerMonth) / leaseInSeconds,
      'DynamoDB read unit': (gatewayTasks * secondsPerMonth) / messageReadsInSeconds,
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
