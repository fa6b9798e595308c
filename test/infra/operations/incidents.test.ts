import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { functionNames } from '../../../infra/service/service-function.ts';
import { nameIn } from '../../../infra/stages/stage.ts';
import { AlarmsOfStage, healthy, metricsOf, type Series } from '../../support/stage-alarms.ts';
import { fullStage } from '../../support/synthesized-stages.ts';
import { schedules } from '../../../shared/tasks/tasks.ts';

/**
 * Incidents as the alarms of a stage see them. Every incident is simulated at the edge of CloudWatch: its series are what AWS documents that
 * it writes. `npm run rehearse -- --incidents` breaks a stage on an emulator in place of it. No alarm was evaluated by AWS itself.
 */
const alarms = new AlarmsOfStage(fullStage);
const runbook = readFileSync(new URL('../../../docs/runbook.md', import.meta.url), 'utf8');

const ofFunctions = new Set(functionNames.map((name) => name.replace('/', '-')));

const startedBy = (changed: Series) => alarms.startedBy({ ...healthy, ...changed }).map((alarm) => alarms.nameOf(alarm));

it('starts no alarm in a stage that is healthy', () => {
  expect(startedBy({})).toEqual([]);
});

const incidents: [string, Series, string[], string][] = [
  ['the rule of the purge stays disabled', { 'Invocations maintenance-purge': [] }, ['purge-silent'], 'aws events enable-rule'],
  [
    'the permission of the sweep is removed',
    { 'Invocations lifecycle-sweep-runs': [] },
    ['sweep-silent'],
    'aws lambda get-policy',
  ],
  ['the fold may have no execution', { 'Invocations maintenance-fold-lists': [] }, ['fold-silent'], 'put-function-concurrency'],
  ['the collection throws', { 'Errors maintenance-collect-content': [1] }, ['maintenance-collect-content'], 'level = "ERROR"'],
  [
    'the stream is not read',
    { 'Invocations maintenance-follow-table': [] },
    ['table-stream-silent'],
    'update-event-source-mapping --enabled',
  ],
  ['the pipe is stopped', { 'Invocations events': [] }, ['events-silent'], 'aws pipes start-pipe'],
  ['the canary is not called', { 'Invocations canary': [] }, ['canary-silent'], '#a-schedule-does-not-run'],
  ['no copies are made', { NumberOfCopyJobsCompleted: [] }, ['copies-silent'], 'aws backup list-copy-jobs'],
  ['a copy fails', { NumberOfCopyJobsCompleted: [2] }, ['copies-silent'], 'aws backup list-copy-jobs'],
  ['the certificate of the domain expires', { DaysToExpiry: [29] }, ['domain-certificate'], 'aws acm describe-certificate'],
  ['the issuer is down', { '4xx': [199], 'Errors canary': [1] }, ['callers-refused', 'canary-fails'], 'openid-configuration'],
  ['a key is disabled', { 'ApproximateNumberOfMessagesVisible key-changes': [1] }, ['key-changes'], 'aws kms enable-key'],
  ['collateral runs out', { CollateralDays: [7] }, ['collateral-expires'], 'npm run collateral -- add'],
  ['half of the callers are refused', { '4xx': [110] }, ['callers-refused'], 'One of several audiences'],
  ['heartbeats are throttled', { HeartbeatsThrottled: [40, undefined, 60] }, ['heartbeats-throttled'], '`SendTaskHeartbeat`'],
  ['the sweep does not get through', { 'Waiting lifecycle-sweep-runs': [3_000] }, ['sweep-backlog'], '`DescribeExecution`'],
  ['a domain uses up a route', { RequestsThrottled: [400] }, ['requests-throttled'], '`expensiveThrottling`'],
  ['too many requests wait', { WaitsRefused: [400] }, ['waits-refused'], '`waits.perStage`'],
  ['content is deleted', { ContentMissing: [1] }, ['content-missing'], 'aws s3api delete-object'],
  ['the table is throttled', { WriteThrottleEvents: [9] }, ['table-throttles'], 'update-contributor-insights'],
  ['API Gateway may not call a function', { '5xx': [5] }, ['unanswered-requests'], 'status >= 500'],
  ['the role of the state machine is broken', { ExecutionsFailed: [1] }, ['run-lifecycle'], 'aws stepfunctions'],
  ['the image of the CVMs is broken', { 'RunsEnded completed': [], 'RunsEnded failed': [5] }, ['failed-runs'], 'cms runs'],
  ['most runs fail', { 'RunsEnded completed': [20], 'RunsEnded failed': [25] }, ['failed-runs'], 'reason'],
  ['a bad version does not start', { '5xx': [100] }, ['api-failures', 'unanswered-requests'], 'deploy.md#rolling-back'],
  [
    'a function lacks a permission',
    { 'RequestsFailed runs-start-run': [4], RequestsFailed: [4], '5xx': [4] },
    ['runs-start-run'],
    'a-permission-is-missing',
  ],
  ['a gateway ends', { ConnectedCvms: [8] }, ['gateway-tasks'], 'aws ecs describe-services'],
  ['a CVM is refused', { StreamsRefused: [60] }, ['gateway-streams-refused'], '`AGENT_CVM_ID`'],
  ['a second machine is a CVM', { IdentityConflicts: [1] }, ['gateway-identity-conflicts'], 'npm run cvm -- enrol'],
  ['a log-forwarder is gone', { MissingForwarders: [1] }, ['gateway-missing-forwarders'], 'restart the log-forwarder'],
  ['an agent was not restarted', { SpentCvms: [1] }, ['gateway-spent-cvms'], 'restart `computation-runner` and `agent`'],
  ['the service takes no reports', { OutboxAge: [90_000] }, ['gateway-outbox-age'], '`gateway/uses.ts`'],
  ['reports are dropped', { ReportsDropped: [1] }, ['gateway-reports-dropped'], '`A report of a run was dropped.`'],
  ['a gateway fills its memory', { MemoryUtilization: [90] }, ['gateway-memory'], 'divided by 4,000'],
  ['a gateway is busy', { CPUUtilization: [85] }, ['gateway-processor'], 'stats count(*) as lines'],
  ['the certificate of the gateway expires', { CertificateDays: [40] }, ['gateway-certificate'], 'aws ecs update-service'],
  ['the bus takes no events', { 'ExecutionFailed events': [1] }, ['events-failing'], '`ThrottlingException`'],
  [
    'events are given up',
    { 'ApproximateNumberOfMessagesVisible undelivered-events': [1] },
    ['events-undelivered'],
    'get-shard-iterator',
  ],
  ['a function is not called', { 'ApproximateNumberOfMessagesVisible undelivered': [1] }, ['undelivered'], 'delete-message'],
  ['mail bounces', { 'Reputation.BounceRate': [0.06] }, ['mail-bounces'], 'list-suppressed-destinations'],
  ['executions run out', { UnreservedConcurrentExecutions: [1_400] }, ['concurrency'], 'get-account-settings'],
  ['steps are refused', { 'Throttles lifecycle-offer-run': [4] }, ['throttled-steps'], 'request a higher limit'],
  ['changes conflict', { ConflictsRetried: [4_000] }, ['conflicts'], 'Lower `domainLimit`'],
  ['purges wait', { 'Waiting maintenance-purge': [1_000] }, ['purge-backlog'], 'Domains take turns'],
  ['content checks wait', { 'Waiting maintenance-collect-content': [1_000] }, ['content-backlog'], '(#a-schedule-does-not-run)'],
  ['a list is not folded', { ListBacklog: [6_000] }, ['list-backlog'], 'The changes of a list were not folded.'],
  [
    'the stream is read late',
    { 'IteratorAge maintenance-follow-table': [400_000] },
    ['table-stream-late'],
    'list-event-source-mappings',
  ],
  ['a list differs', { ListDrift: [1] }, ['list-drift'], 'npm run index -- rebuild'],
  ['the log does not grow', { LogEntryAge: [400_000] }, ['log-entries-wait'], 'Never remove the checkpoint'],
  ['the table was restored', { LogRebuilt: [1] }, ['log-rebuilt'], '`log_contradicted`'],
  ['requests are slow', { Latency: [10] }, ['api-latency'], 'coldStarts'],
];

it('has an incident for each alarm of a part', () => {
  const shown = new Set(incidents.flatMap(([, , expected]) => expected));
  const silent = schedules.map(({ name }) => `${name.split('/')[1]?.split('-')[0]}-silent`); // each schedule below
  const ofParts = alarms.all.map((alarm) => alarms.nameOf(alarm)).filter((name) => !ofFunctions.has(name));
  expect(ofParts.filter((name) => !shown.has(name) && !silent.includes(name))).toEqual([]);
});

it.each(incidents)('tells that %s, under a heading with what to do', (_what, changed, expected, toDo) => {
  expect(startedBy(changed)).toEqual(expected);
  const sections = alarms.all
    .filter((alarm) => expected.includes(alarms.nameOf(alarm)))
    .map(({ AlarmDescription }) => AlarmDescription.split('#')[1] ?? '')
    .map((heading) => runbook.split('\n## ').find((each) => each.toLowerCase().replaceAll(' ', '-').startsWith(`${heading}\n`)));
  expect(sections).toHaveLength(expected.length);
  expect(sections.join('\n')).toContain(toDo);
});

it.each<[string, Series]>([
  ['failures that functions counted in the period before', { '5xx': [4, 0], RequestsFailed: [0, 4] }],
  ['one throttled request', { WriteThrottleEvents: [1, undefined] }],
  ['one refused heartbeat', { HeartbeatsThrottled: [1, undefined] }],
  ['one failure of a task of each minute', { 'Errors lifecycle-sweep-runs': [1] }],
  ['some refused requests in a quiet stage', { Count: [99], '4xx': [99] }],
  ['a run at the edge of a period', { 'Invocations maintenance-follow-table': [undefined, 5] }],
  ['some failed runs beside as many that complete', { 'RunsEnded completed': [20], 'RunsEnded failed': [24] }],
  ['one caller with a wrong token in a quiet stage', { Count: [10], '4xx': [10] }],
])('does not page for %s', (_what, changed) => {
  expect(startedBy(changed)).toEqual([]);
});

/** Everything in the templates that a schedule or a stream calls. */
const { stacks } = alarms.synthesized;
const resources = Object.values({ ...stacks.state.resources, ...stacks.service.resources, ...stacks.canary?.resources });
const functions = { ...stacks.service.resources, ...stacks.canary?.resources };
const called = resources.flatMap(({ Type, Properties }) => {
  if (Type === 'AWS::Pipes::Pipe') return [{ name: String(Properties['Name']), how: 'pipe' }];
  const isRule = Type === 'AWS::Events::Rule' && 'ScheduleExpression' in Properties;
  if (!isRule && Type !== 'AWS::Lambda::EventSourceMapping') return [];
  const target = isRule ? (Properties['Targets'] as [{ Arn: unknown }])[0].Arn : Properties['FunctionName'];
  const [id = ''] = Object.keys(functions).filter((each) => JSON.stringify(target).includes(`"${each}"`));
  return [{ name: String(functions[id]?.Properties['FunctionName']), how: isRule ? 'schedule' : 'stream' }];
});

it('knows all schedules and streams of the templates', () => {
  expect(called.map(({ how }) => how).sort()).toEqual(
    [...Array.from({ length: schedules.length + 1 }, () => 'schedule'), 'stream', 'pipe'].sort(),
  );
});

describe.each(called)('$name, called by a $how', ({ name, how }) => {
  const key = name.replace(nameIn(fullStage, ''), '');
  /** Alarms that start, with only metrics that AWS writes. */
  const startedByAws = (changed: Series) =>
    alarms
      .startedBy({ ...healthy, ...changed })
      .filter((alarm) => metricsOf(alarm).every(({ Namespace }) => Namespace.startsWith('AWS/')))
      .map((alarm) => alarms.nameOf(alarm));

  it('has an alarm that starts if it is disabled, may not be called or has no execution: AWS counts no call', () => {
    expect(startedByAws({ [`Invocations ${key}`]: [] })).toHaveLength(1);
    expect(startedByAws({ [`Invocations ${key}`]: [1] })).toEqual([]);
  });

  it('has an alarm that starts if it fails', () => {
    const failure = how === 'pipe' ? 'ExecutionFailed' : 'Errors';
    expect(startedByAws({ [`${failure} ${key}`]: [3] })).toHaveLength(1);
  });
});
