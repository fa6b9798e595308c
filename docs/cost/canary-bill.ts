import type { MetricName, tasksWithWaiting } from '../../shared/metrics.ts';
import { gigabyte } from './call-bill.ts';
import type { Measured } from './measured.ts';
import { minutesPerMonth } from './month.ts';
import { pricedBy } from './priced-by.ts';
import { addUp, type Bill } from './prices.ts';
import { executionBill } from './run-bill.ts';

/** What the page prices a canary with. */
export const canaryMinutes = 15;
const secondsOfCanary = 15;
const canaryMegabytes = 256;

/** What each of its runs makes the service write, conflicts included, and how many purges and changes of lists the tasks then find. */
const metricsOfCanary = [
  'RunsStarted',
  'RunsEnded',
  'TimeToAccept',
  'ReportLag',
  'ConflictsRetried',
] as const satisfies MetricName[];
const tasksOfCanary = ['maintenance/purge', 'maintenance/fold-lists'] as const satisfies (typeof tasksWithWaiting)[number][];

/** The monthly cost of a canary: the secret, its alarms, and what it does at each call. */
export function canaryBills(measured: Measured): Record<string, Bill> {
  const priced = pricedBy(measured, 1); // in a stage without users, its calls are a second apart
  const calls = minutesPerMonth / canaryMinutes;
  const of = (bill: Bill): Bill => addUp([[calls, bill]]);
  return {
    'secret, alarms, custom metrics': {
      'Secrets Manager secret, month': 1,
      'CloudWatch alarm metric, month': 2,
      'CloudWatch custom metric, month': metricsOfCanary.length + tasksOfCanary.length,
    },
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
