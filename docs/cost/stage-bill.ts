import { schedules } from '../../infra/schedules.ts';
import { finalStatuses } from '../../shared/computations/run.ts';
import { metricUnits, tasksWithWaiting } from '../../shared/metrics.ts';
import { metricsOfGateways } from './gateway-bill.ts';
import type { Measured } from './measured.ts';
import { minutesPerMonth } from './month.ts';
import { pricedBy } from './priced-by.ts';
import { addUp, type Bill } from './prices.ts';

/** Metrics that a stage writes only while requests fail: charged for these hours alone. */
export const metricsOfFailures = ['RequestsFailed'] as const;

/** Metrics with a dimension: one for each of its values. */
const ofDimensions = finalStatuses.length + tasksWithWaiting.length;
const withoutDimensions = Object.keys(metricUnits).filter((name) => name !== 'RunsEnded' && name !== 'Waiting').length;

/** The metrics of runs, reports, conflicts and lists. A stage that nobody uses writes none: tasks write only what they found to do. */
const metricsOfUse = withoutDimensions + ofDimensions - metricsOfFailures.length - metricsOfGateways.length;

/** What the metrics of a stage cost in a month in which all of them are written in every hour. */
export const useBill: Bill = { 'CloudWatch custom metric, month': metricsOfUse };

/** Of a KMS key, only the first two rotations are charged, and it is rotated every year. */
export const rotationsCharged = 2;

/**
 * The monthly cost of a stage that nobody uses.
 * @param rotations how often the key that seals private keys was rotated, up to `rotationsCharged`
 */
export function stageBills(measured: Measured, rotations: number): Record<string, Bill> {
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
    'rotations of the key that seals private keys': { 'KMS key, month': rotations },
    dashboard: { 'CloudWatch dashboard, month': measured.stage.dashboards },
    schedules: addUp(schedules.map(({ name, everyMinutes }) => [minutesPerMonth / everyMinutes, priced(cases[name])])),
  };
}
