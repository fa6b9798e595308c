import { behaviour } from './behaviour.ts';
import { gigabyte } from './call-bill.ts';
import type { Measured } from './measured.ts';
import { pricedBy } from './priced-by.ts';
import { addUp, type Bill } from './prices.ts';
import { runBills, stopBill } from './run-bill.ts';
import type { Tenant } from './tenants.ts';

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
