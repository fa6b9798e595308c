import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { referenceFiles } from '../../infra/reference/reference-files.ts';
import { referenceThrottling } from '../../infra/reference/reference-throttling.ts';
import type { Bill } from './prices.ts';

const secondsPerMonth = 730 * 3_600;
const secondsOfCall = 0.05;
const functionGigabytes = 0.25;

/** What somebody can run up in a month who loads all files of the API reference as often as the API allows. */
export function mostOfReference(): Bill {
  const sizes = Object.values(referenceFiles()).map((file) => gzipSync(readFileSync(file), { level: 9 }).length);
  const loads = referenceThrottling.requestsPerSecond * secondsPerMonth;
  const calls = loads * sizes.length;
  return {
    'HTTP API request': calls,
    'Lambda request': calls,
    'Lambda GB-second, ARM64': calls * secondsOfCall * functionGigabytes,
    'GB sent to the internet': (loads * sizes.reduce((sum, size) => sum + size, 0)) / 1e9,
  };
}
