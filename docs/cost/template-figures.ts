import { stages } from '../../infra/stages.ts';
import { synthesize } from '../../test/support/synthesized-stages.ts';
import type { Measured } from './measured.ts';

/** Reads the templates of the first stage, because all stages have the same values, and so have all functions that do not wait. */
export function readTemplates(): Measured['stage'] {
  const [stage] = synthesize(stages.slice(0, 1));
  if (!stage) throw new Error('There is no stage.');
  const { operations, service, state } = stage.stacks;
  const memory = Object.values(service.ofType<{ MemorySize: number }>('AWS::Lambda::Function')).map(
    ({ MemorySize }) => MemorySize,
  );
  const alarms = Object.values(operations.ofType<{ Metrics?: { MetricStat?: unknown }[] }>('AWS::CloudWatch::Alarm'));
  return {
    memoryInMegabytes: Math.max(...memory),
    memoryOfWaitsInMegabytes: Math.min(...memory),
    alarmMetrics: alarms.reduce((sum, { Metrics }) => sum + (Metrics?.filter(({ MetricStat }) => MetricStat).length ?? 1), 0),
    dashboards: Object.keys(operations.ofType('AWS::CloudWatch::Dashboard')).length,
    keys: [state, service].flatMap((stack) => Object.keys(stack.ofType('AWS::KMS::Key'))).length,
  };
}
