import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { CloudWatchClient, DescribeAlarmsCommand, SetAlarmStateCommand } from '@aws-sdk/client-cloudwatch';
import { CloudWatchLogsClient, paginateFilterLogEvents } from '@aws-sdk/client-cloudwatch-logs';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SNSClient, SubscribeCommand, UnsubscribeCommand } from '@aws-sdk/client-sns';
import { CreateQueueCommand, DeleteQueueCommand, ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { describe, expect, it, vi } from 'vitest';
import { stageNamed } from '../../infra/stages/stages.ts';
import { nameIn } from '../../infra/stages/stage.ts';
import { readClaim } from '../../shared/rows/claim.ts';
import { documentClient } from '../../shared/table/table.ts';
import { resourcesOf } from '../../tools/domains/stage-data.ts';
import { untilTestEnds } from '../support/patience.ts';
import { newCvm, useSession } from '../support/session.ts';

// What no emulator shows. `npm run test:deployed -- --stage STAGE` runs it after the end-to-end suite.

const stage = stageNamed(process.env['TARGET_STAGE'] ?? '');
const at = { region: stage.region };
const session = useSession();

describe(`the stage ${stage.name}`, () => {
  it('sends an alarm to its topic', async () => {
    const [cloudWatch, sns, sqs] = [new CloudWatchClient(at), new SNSClient(at), new SQSClient(at)];
    const AlarmName = nameIn(stage, 'undelivered');
    const topic = nameIn(stage, 'alarms');
    const { MetricAlarms = [] } = await cloudWatch.send(new DescribeAlarmsCommand({ AlarmNames: [AlarmName] }));
    const TopicArn = MetricAlarms[0]?.AlarmActions?.find((action) => action.endsWith(`:${topic}`));
    if (TopicArn === undefined) throw new Error(`The alarm ${AlarmName} does not exist, or does not tell ${topic}.`);

    const QueueName = `${nameIn(stage, 'test')}-${randomUUID().slice(0, 8)}`;
    const queueArn = TopicArn.replace(':sns:', ':sqs:').replace(topic, QueueName);
    const mayBeSentTo = {
      Effect: 'Allow',
      Principal: { Service: 'sns.amazonaws.com' },
      Action: 'sqs:SendMessage',
      Resource: queueArn,
      Condition: { ArnEquals: { 'aws:SourceArn': TopicArn } },
    };
    const Policy = JSON.stringify({ Version: '2012-10-17', Statement: [mayBeSentTo] });
    const { QueueUrl } = await sqs.send(new CreateQueueCommand({ QueueName, Attributes: { Policy } }));
    const setState = (StateValue: 'ALARM' | 'OK') =>
      cloudWatch.send(new SetAlarmStateCommand({ AlarmName, StateValue, StateReason: 'npm run test:deployed' }));
    const to = { TopicArn, Protocol: 'sqs', Endpoint: queueArn, ReturnSubscriptionArn: true };
    const { SubscriptionArn } = await sns.send(new SubscribeCommand(to));
    try {
      await setState('ALARM');
      await vi.waitFor(async () => {
        const { Messages = [] } = await sqs.send(new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 20 }));
        expect(Messages.some(({ Body = '' }) => Body.includes(AlarmName))).toBe(true);
      }, untilTestEnds);
    } finally {
      await Promise.allSettled([
        setState('OK'),
        sns.send(new UnsubscribeCommand({ SubscriptionArn })),
        sqs.send(new DeleteQueueCommand({ QueueUrl })),
      ]);
    }
  });

  it('gives task tokens of at most a kilobyte, on which ADR 3 relies', async () => {
    const { tableName } = await resourcesOf(stage);
    const table = { name: tableName, document: documentClient(new DynamoDBClient(at)) };
    const [computation_id, cvm_id] = [await session.readyComputation(), newCvm()];
    const run_id = await session.startRun(computation_id, cvm_id);
    const run = { domain: session.target.domain, computation_id, run_id, cvm_id };
    const token = await vi.waitFor(async () => {
      const given = (await readClaim(table, run))?.offer_token;
      if (given === undefined) throw new Error('The execution does not wait yet.');
      return given;
    }, untilTestEnds);
    expect(token.length).toBeLessThanOrEqual(1_024);
    await session.endRun(cvm_id);
  });

  it('starts functions cold in 450 ms at most, the median of those logged (docs/cost.md counts on 300), and counts conflicts', async () => {
    await delay(10_000); // until the logs have arrived
    const logs = new CloudWatchLogsClient(at);
    const startTime = Number(process.env['TARGET_SINCE']);
    const entries = async (filterPattern: string) => {
      const found: unknown[] = [];
      for (const name of ['create-computation', 'list-computations', 'update-computation']) {
        const query = { logGroupName: `/aws/lambda/${nameIn(stage, `computations/${name}`)}`, filterPattern, startTime };
        for await (const { events = [] } of paginateFilterLogEvents({ client: logs }, query))
          found.push(...events.map(({ message = '{}' }) => JSON.parse(message) as unknown));
      }
      return found;
    };
    const reports = (await entries('{ $.type = "platform.report" && $.record.metrics.initDurationMs > 0 }')) as Report[];
    const cold = reports.map(({ record }) => record.metrics.initDurationMs).sort((a, b) => a - b);
    const conflicts = await entries('{ $.ConflictsRetried > 0 }');
    console.log(`${cold.length} cold starts: ${cold.map(Math.round).join(', ')} ms. Transactions retried: ${conflicts.length}`);
    expect(cold[Math.floor(cold.length / 2)] ?? 0).toBeLessThanOrEqual(450);
  });

  it('answers 429, and nothing else, to creates beyond the limit of the domain', async () => {
    const { burst, changesPerSecond } = stage.domainLimit ?? { burst: 500, changesPerSecond: 500 };
    await delay((1_000 * burst) / changesPerSecond); // until the limit admits a burst again
    const start = performance.now();
    const create = () => session.call('computations/create-computation', { body: { name: 'Limit' }, once: true });
    const statuses = (await Promise.all(Array.from({ length: burst + changesPerSecond }, create))).map(({ status }) => status);
    const seconds = (performance.now() - start) / 1_000;
    const count = (status: number) => statuses.filter((each) => each === status).length;
    console.log(`In ${seconds.toFixed(1)} s, ${count(201)} made, ${count(429)} answered 429, ${count(503)} answered 503.`);
    if (!stage.domainLimit) return; // then it measures what the table takes (ADR 1)
    expect(count(201) + count(429)).toBe(statuses.length);
    expect(count(201)).toBeLessThanOrEqual(burst + changesPerSecond * (seconds + 1));
  });
});

interface Report {
  record: { metrics: { initDurationMs: number } };
}
