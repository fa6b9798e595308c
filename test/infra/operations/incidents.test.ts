import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { AlarmsOfStage, healthy, type Series } from '../../support/stage-alarms.ts';
import { fullStage } from '../../support/synthesized-stages.ts';

/**
 * Incidents as the alarms of a stage see them. Every incident is simulated at the edge of CloudWatch: its series are what AWS documents that
 * it writes. `npm run rehearse -- --incidents` breaks a stage on an emulator in place of it. No alarm was evaluated by AWS itself.
 */
const alarms = new AlarmsOfStage(fullStage);
const runbook = readFileSync(new URL('../../../docs/runbook.md', import.meta.url), 'utf8');

const startedBy = (changed: Series) => alarms.startedBy({ ...healthy, ...changed }).map((alarm) => alarms.nameOf(alarm));

it('starts no alarm in a stage that is healthy', () => {
  expect(startedBy({})).toEqual([]);
});

it.each<[string, Series, string[], string]>([
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
  ['the issuer is down', { '4xx': [199], 'Errors canary': [1] }, ['callers-refused', 'canary-fails'], 'openid-configuration'],
  ['a key is disabled', { 'ApproximateNumberOfMessagesVisible key-changes': [1] }, ['key-changes'], 'aws kms enable-key'],
  ['content is deleted', { ContentMissing: [1] }, ['content-missing'], 'aws s3api delete-object'],
  ['the table is throttled', { WriteThrottleEvents: [9] }, ['table-throttles'], 'update-contributor-insights'],
  ['API Gateway may not call a function', { '5xx': [5] }, ['unanswered-requests'], 'status >= 500'],
  ['the role of the state machine is broken', { ExecutionsFailed: [1] }, ['run-lifecycle'], 'aws stepfunctions'],
  ['a bad version does not start', { '5xx': [100] }, ['api-failures', 'unanswered-requests'], 'deploy.md#rolling-back'],
  [
    'a function lacks a permission',
    { 'RequestsFailed runs-start-run': [4], RequestsFailed: [4], '5xx': [4] },
    ['runs-start-run'],
    'a-permission-is-missing',
  ],
])('tells that %s, under a heading with what to do', (_what, changed, expected, toDo) => {
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
  ['a run at the edge of a period', { 'Invocations maintenance-follow-table': [undefined, 5] }],
  ['one caller with a wrong token in a quiet stage', { Count: [10], '4xx': [10] }],
])('does not page for %s', (_what, changed) => {
  expect(startedBy(changed)).toEqual([]);
});
