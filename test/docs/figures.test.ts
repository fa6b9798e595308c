import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { reservedFor, reservedInAccount } from '../../infra/service/reserved-concurrency.ts';
import { taskMemoryInMebibytes } from '../../infra/gateway/gateway-task.ts';
import { loopbackPorts } from '../../infra/state/users.ts';
import { nameIn, recoverableInDays, undeliveredStaysInDays } from '../../infra/stages/stage.ts';
import { stages } from '../../infra/stages/stages.ts';
import { routes } from '../../shared/endpoints/endpoints.ts';
import type { Route } from '../../shared/http/route.ts';
import { tasks, type Task } from '../../shared/tasks/tasks.ts';
import { fullStage, synthesize } from '../support/synthesized-stages.ts';

/** Reads a page as one line, in which a table has single spaces. */
const textOf = (page: string) => readFileSync(new URL(`../../docs/${page}`, import.meta.url), 'utf8').replaceAll(/\s+/g, ' ');

const [dev, staging, prod] = stages;
if (!dev || !staging || !prod || prod.reservedConcurrency === 'none') throw new Error('The rows have changed.');
const { reservedConcurrency, waits, accountConcurrency } = prod;
const rows = [...new Map<string, Route | Task>([...routes, ...tasks].map((row) => [row.name, row])).values()];
const reserving = (executions: number | undefined, some = rows) =>
  some.filter((row) => reservedFor(row, prod) === executions).map(({ name }) => name);
const slowReads = rows.filter((row) => 'reserves' in row && row.reserves === 'slowReads').length;
const changing = reserving(reservedConcurrency.changes).length - slowReads;
const reserved = reservedInAccount(prod, [prod]);
const rest = accountConcurrency - reserved;
const words = ['no', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];
const grouped = (value: number) => value.toLocaleString('en-US');
const inTwoDigits = (value: number) => Number(value.toPrecision(2));

const [{ stacks: full } = { stacks: undefined }] = synthesize([fullStage]);
interface Alarm {
  AlarmName: string;
  Threshold: number;
  EvaluationPeriods: number;
  MetricName?: string;
  Namespace?: string;
  Metrics?: { MetricStat?: { Metric: { MetricName: string; Namespace: string } } }[];
}
const alarms = Object.values(full?.operations.ofType<Alarm>('AWS::CloudWatch::Alarm') ?? {}).map((alarm) => ({
  ...alarm,
  name: alarm.AlarmName.slice(nameIn(fullStage, '').length),
}));
const thresholdOf = (name: string) => alarms.find((alarm) => alarm.name === name)?.Threshold ?? NaN;
const metricsOfAlarm = ({ MetricName, Namespace, Metrics = [] }: Alarm) =>
  MetricName === undefined
    ? Metrics.flatMap(({ MetricStat }) => (MetricStat ? [MetricStat.Metric] : []))
    : [{ MetricName, Namespace: Namespace ?? '' }];
/** The dollars of a month for the alarms of a part, and for the metrics of the service's own among theirs. */
const costsOf = (part: RegExp) => {
  const metrics = alarms.filter(({ name }) => part.test(name)).flatMap(metricsOfAlarm);
  const own = new Set(metrics.flatMap(({ MetricName, Namespace }) => (Namespace.startsWith('AWS/') ? [] : [MetricName])));
  return { alarms: metrics.length / 10, custom: own.size * 0.3 };
};

const [deployed] = Object.values(
  full?.service.ofType<{ RouteSettings: Record<string, { ThrottlingRateLimit: number }> }>('AWS::ApiGatewayV2::Stage') ?? {},
);
const perSecond = (route: string) => deployed?.RouteSettings[route]?.ThrottlingRateLimit;

const cost = textOf('cost.md');
const priceOf = (row: string) => Number(new RegExp(`\\| ${row} \\| ([\\d.,]+) \\|`).exec(cost)?.[1]?.replace(',', ''));
const pollingHour = Number(/polling every 5 s, also for 10 minutes around a run, [\d.]+, ([\d.]+),/.exec(cost)?.[1]) / 1_000;

const heartbeatsPerSecond = 300;
const secondsBetweenHeartbeats = 15;
const callInSeconds = 0.023;
const pollInSeconds = 5;
const groups = [1, 10, 100];
const active = groups.map((factor) => (100_000 * factor) / (365 * 2));
const cvms = [200, 2_000, 20_000];
const row = (name: string, values: readonly number[]) => `| ${name} | ${values.map(grouped).join(' | ')} |`;

const sentences: Record<string, readonly string[]> = {
  'deploy.md': [
    `\`lifecycleSteps\` for each of ${words[reserving(reservedConcurrency.lifecycleSteps).length]} functions`,
    `\`changes\` for each of ${changing} endpoints`,
    `Production needs ${grouped(accountConcurrency)}: request it`,
    `\`dev\` and \`staging\` fit into ${grouped(dev.accountConcurrency)} together, and into ${grouped(accountConcurrency)} with \`prod\``,
    `ports ${loopbackPorts.slice(0, -1).join(', ')} and ${loopbackPorts.at(-1)}`,
  ],
  'runbook.md': [
    `reserved ${changing} times`,
    `at least ${thresholdOf('callers-refused')} % of the requests`,
    `at least ${words[thresholdOf('failed-runs')]} more runs failed in an hour`,
    `found ${grouped(thresholdOf('list-backlog'))} or more before them`,
    `left ${grouped(thresholdOf('sweep-backlog'))} active runs or more`,
    `more than ${grouped(thresholdOf('purge-backlog'))} deleted resources`,
    `at least ${thresholdOf('gateway-streams-refused')} streams in five minutes`,
    `${thresholdOf('requests-throttled')} requests or more were answered 429`,
    `more than ${thresholdOf('gateway-memory')} % of its memory for ten minutes, or more than ${thresholdOf('gateway-processor')} % of its processor`,
    `within ${thresholdOf('domain-certificate')} days`,
    `within ${thresholdOf('gateway-certificate')} days`,
    `within ${thresholdOf('collateral-expires')} days`,
    `keeps deleted objects for ${recoverableInDays} days`,
    `keeps it for ${undeliveredStaysInDays} days`,
  ],
  'adr/0014-domain-limits.md': [
    `each of the ${changing} endpoints that change a domain has ${reservedConcurrency.changes} executions`,
    `${grouped(changing * (reservedConcurrency.changes ?? NaN))} together`,
    `The ${words[slowReads]} slow reads have ${reservedConcurrency.slowReads} each`,
    `production reserves ${grouped(reserved)} and has a quota of ${grouped(accountConcurrency)}`,
    `share the ${grouped(rest)} that are left`,
    `Production admits ${grouped(prod.throttling.requestsPerSecond)} requests a second to a route, ${grouped(prod.expensiveThrottling.requestsPerSecond)} to an expensive one`,
  ],
  'adr/0016-gateway-on-aws.md': [
    `a quarter of an ARM processor and ${taskMemoryInMebibytes / 1_024} GiB`,
    `An address costs $${(Number(/public address ([\d.]+)\./.exec(cost)?.[1]) * 730).toFixed(2)}`,
  ],
  'restore.md': [`${recoverableInDays} days, to the second`],
  'security.md': [
    `admit ${perSecond('GET /health')} requests a second, \`/openapi.json\` and each file of \`/docs\` ${perSecond('GET /openapi.json')}`,
  ],
  'cost.md': [
    `With a canary, as \`staging\` and \`prod\` have: ${(priceOf('a stage that nobody uses') + priceOf('a canary')).toFixed(2)}`,
    `alarms and metrics ${(costsOf(/^gateway-/).alarms + costsOf(/^gateway-/).custom).toFixed(2)}, leases`,
    `in each of 4 or more parts, 8.41; alarms ${costsOf(/^events-(failing|silent|undelivered)$/).alarms.toFixed(2)}.`,
  ],
  'capacity.md': [
    `[${grouped(accountConcurrency)} executions]`,
    row('active runs', active.map(Math.round)),
    row('CVMs', cvms),
    row(
      'polls a second, every 5 s',
      cvms.map((count) => count / pollInSeconds),
    ),
    row(
      'heartbeats a second, by gateways',
      active.map((runs) => Math.round(runs / secondsBetweenHeartbeats)),
    ),
    row(
      'tasks of the gateway',
      cvms.map((count) => Math.max(2, Math.ceil(count / 4_000) + (count > 4_000 ? 1 : 0))),
    ),
    `| ${prod.domainLimit?.changesPerSecond} a second, ${prod.domainLimit?.burst} at once |`,
    `| ${grouped(heartbeatsPerSecond * secondsBetweenHeartbeats)} | quota: ${heartbeatsPerSecond} heartbeats a second`,
    `| ${grouped(inTwoDigits((pollInSeconds * ((waits.concurrency ?? NaN) - waits.perStage)) / callInSeconds))} | calculated: ${(waits.concurrency ?? NaN) - waits.perStage} executions`,
    `| ${waits.perStage}, ${waits.perDomain} of a domain |`,
    `| ${grouped(inTwoDigits(rest / callInSeconds))} a second | calculated: ${grouped(rest)} executions`,
    `| parts of the table's stream | ${reservedConcurrency.lifecycleSteps} |`,
    `| checks of uploads and results | ${reservedConcurrency.uploads} |`,
    `With the ${prod.runTimes.silenceInSeconds / 60} minutes of \`prod\``,
    `[$${priceOf('a gateway with 2 tasks')}](cost.md#what-it-costs)`,
    `from ${Math.ceil(priceOf('a gateway with 2 tasks') / priceOf('a CVM that polls'))} CVMs on`,
    `from ${grouped(inTwoDigits(priceOf('a gateway with 2 tasks') / pollingHour))} runs of an hour a month`,
  ],
};

describe.each(Object.entries(sentences))('the figures of docs/%s', (page, expected) => {
  it.each(expected)('are those of the code: %s', (sentence) => {
    expect(textOf(page).includes(sentence), `docs/${page} lacks: ${sentence}`).toBe(true);
  });
});

describe('docs/cost.md', () => {
  const table = readFileSync(new URL('../../docs/cost.md', import.meta.url), 'utf8').split('\n');
  const ofRow = (name: string) => table.find((line) => line.startsWith(`| ${name}`))?.split('|') ?? [];

  it.each(['a stage that nobody uses', 'a gateway with 2 tasks', 'a canary', 'an event bus'])(
    'adds up what %s is made of',
    (name) => {
      const [, , sum = '', parts = ''] = ofRow(name);
      const [sentence = ''] = parts.split(/\. (?=[A-Z])/);
      const dollars = [...sentence.matchAll(/ (\d+\.\d\d)(?=[,;.]| |$)/g)].map(([, each]) => Number(each));
      expect(dollars.length).toBeGreaterThan(1);
      expect(Math.abs(dollars.reduce((one, other) => one + other, 0) - Number(sum))).toBeLessThan(
        sum.includes('.') ? 0.005 : 0.5,
      );
    },
  );
});

describe('docs/capacity.md', () => {
  const limits = readFileSync(new URL('../../docs/capacity.md', import.meta.url), 'utf8')
    .split('\n| limit ')[1]
    ?.split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('| ---'))
    .map((line) => line.split('|').map((cell) => cell.trim()));

  it('names an alarm as the first sign of each limit', () => {
    expect(limits?.length).toBeGreaterThan(15);
    const signs = limits?.map(([, , , , sign = '']) => /^`([a-z-]+)`/.exec(sign)?.[1]);
    expect(alarms.map(({ name }) => name)).toEqual(expect.arrayContaining([...new Set(signs)]));
  });

  it('says how many runs lose all their heartbeats in a day, if each is skipped at random', () => {
    const lost = (runs: number) => {
      const sent = Math.min(1, heartbeatsPerSecond / (runs / secondsBetweenHeartbeats));
      const tries = Math.floor(prod.runTimes.silenceInSeconds / secondsBetweenHeartbeats);
      return ((runs * 86_400) / secondsBetweenHeartbeats) * sent * (1 - sent) ** tries;
    };
    expect([Math.round(lost(13_699)), Math.round(lost(20_000) / 100) * 100]).toEqual([3, 1_000]);
    expect(textOf('capacity.md')).toContain('13,699 runs lose some 3 a day, 20,000 some 1,000');
  });
});
