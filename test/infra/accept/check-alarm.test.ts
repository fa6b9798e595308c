import { createServer } from 'node:http';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { checkAlarm } from '../../../infra/accept/check-alarm.ts';
import { facts } from '../../../infra/accept/facts.ts';
import { findingsOf } from '../../../infra/accept/finding.ts';
import { listen } from '../../../local/machine/listen.ts';
import { stageNamed } from '../../../infra/stages/stage-named.ts';

/** What CloudWatch answers. */
let answer: { status: number; body: object };
let aws: Awaited<ReturnType<typeof listen>>;
beforeEach(async () => {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(answer.status, { 'content-type': 'application/x-amz-json-1.0' }).end(JSON.stringify(answer.body));
  });
  aws = await listen(server, 0);
  vi.stubEnv('AWS_ENDPOINT_URL', aws.endpoint);
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'test');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'test');
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await aws.stop();
});

const check = () => findingsOf([facts.alarm], async () => [await checkAlarm(stageNamed('dev'), () => {})]);

describe('the check of an alarm', () => {
  const alarm = { AlarmName: 'computations-dev-undelivered' };
  const ofOthers = 'arn:aws:sns:eu-central-1:000000000000:others';

  it.each([
    ['does not exist', []],
    ['tells nobody', [alarm]],
    ['tells only others', [{ ...alarm, AlarmActions: [ofOthers] }]],
  ])('does not hold if the alarm %s', async (_, MetricAlarms) => {
    answer = { status: 200, body: { MetricAlarms } };
    const measured = 'the alarm computations-dev-undelivered does not exist, or does not tell computations-dev-alarms';
    expect(await check()).toEqual([{ ...facts.alarm, measured, holds: false }]);
  });

  it('does not hold if the credentials may not look at it', async () => {
    answer = { status: 400, body: { __type: 'com.amazonaws.cloudwatch#AccessDenied', message: 'You may not.' } };
    const measured = 'the check failed: AccessDenied: You may not.';
    expect(await check()).toEqual([{ ...facts.alarm, measured, holds: false }]);
  });
});
