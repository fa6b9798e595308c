import { writeFileSync } from 'node:fs';
import { costPage } from '../docs/cost/cost-page.ts';
import { measuredFile, type Measured } from '../docs/cost/measured.ts';
import { stages } from '../infra/stages.ts';
import { synthesize } from '../test/support/synthesized-stages.ts';
import { measureEndpoints } from './measure-endpoints.ts';

const all = (await measureEndpoints()).map(({ calls: _, endpoint, ...measurement }) => ({
  ...measurement,
  ...(endpoint === undefined ? {} : { endpoint }),
}));
const functions = all.filter(({ key }) => key === undefined);
const keyed = all.filter(({ key }) => key !== undefined);
const measured: Measured = { functions, keyed, stage: readTemplates() };
writeFileSync(measuredFile, `${JSON.stringify(measured, null, 2)}\n`);
writeFileSync(new URL('../docs/cost.md', import.meta.url), costPage(measured));

/** Reads the first stage and its first function, because all stages and functions have the same values. */
function readTemplates(): Measured['stage'] {
  const [stage] = synthesize(stages.slice(0, 1));
  if (!stage) throw new Error('There is no stage.');
  const { operations, service, state } = stage.stacks;
  const [aFunction] = Object.values(service.ofType<{ MemorySize: number }>('AWS::Lambda::Function'));
  const alarms = Object.values(operations.ofType<{ Metrics?: { MetricStat?: unknown }[] }>('AWS::CloudWatch::Alarm'));
  return {
    memoryInMegabytes: aFunction?.MemorySize ?? 0,
    alarmMetrics: alarms.reduce((sum, { Metrics }) => sum + (Metrics?.filter(({ MetricStat }) => MetricStat).length ?? 1), 0),
    dashboards: Object.keys(operations.ofType('AWS::CloudWatch::Dashboard')).length,
    keys: [state, service].flatMap((stack) => Object.keys(stack.ofType('AWS::KMS::Key'))).length,
  };
}
