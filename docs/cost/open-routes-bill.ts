import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { referenceFiles } from '../../infra/reference/reference-files.ts';
import { referenceThrottling } from '../../infra/reference/reference-throttling.ts';
import { publicThrottlingOf } from '../../infra/service/public-throttling.ts';
import { routes } from '../../shared/endpoints/endpoints.ts';
import type { Route } from '../../shared/http/route.ts';
import { openapiDocument } from '../../shared/openapi/openapi-document.ts';
import type { Bill } from './prices.ts';

const secondsPerMonth = 730 * 3_600;
const secondsOfCall = 0.05;
const functionGigabytes = 0.5;
const bytesOfShortAnswer = 1_000;

/** What somebody can run up in a month who calls every route that needs no token as often as the API allows. */
export function mostOfOpenRoutes(): Bill {
  const files = Object.values(referenceFiles()).map((file) => ({
    bytes: gzipSync(readFileSync(file), { level: 9 }).length,
    loads: referenceThrottling.requestsPerSecond * secondsPerMonth,
  }));
  const open = (routes as readonly Route[]).filter((route) => !('access' in route));
  const answers = open.map((route) => ({
    bytes: route.name === 'service/openapi' ? JSON.stringify(openapiDocument('1.0.0')).length : bytesOfShortAnswer,
    loads: publicThrottlingOf(route).requestsPerSecond * secondsPerMonth,
  }));
  const heads = answers.map(({ loads }) => ({ bytes: bytesOfShortAnswer, loads })); // HEAD has limits of its own
  const sent = [...files, ...answers, ...heads];
  const calls = sent.reduce((sum, { loads }) => sum + loads, 0);
  return {
    'HTTP API request': calls,
    'Lambda request': calls,
    'Lambda GB-second, ARM64': calls * secondsOfCall * functionGigabytes,
    'GB sent to the internet': sent.reduce((sum, { bytes, loads }) => sum + bytes * loads, 0) / 1e9,
  };
}
