import { hoursPerMonth } from './month.ts';
import type { Bill } from './prices.ts';

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
