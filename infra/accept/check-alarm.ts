import { randomUUID } from 'node:crypto';
import { CloudWatchClient, DescribeAlarmsCommand, SetAlarmStateCommand } from '@aws-sdk/client-cloudwatch';
import { SNSClient, SubscribeCommand, UnsubscribeCommand } from '@aws-sdk/client-sns';
import { CreateQueueCommand, DeleteQueueCommand, ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { nameIn, type Stage } from '../stages/stage.ts';
import { facts } from './facts.ts';
import type { Finding } from './finding.ts';

const longestInSeconds = 60;
/** The longest wait of an SQS receive request. */
const longestPollInSeconds = 20;

/**
 * Sets the alarm of undelivered events, and waits for its message in a queue of its own at the topic of the stage. Tells the real
 * targets too. The alarm is set back, and the queue deleted, whatever happens; what cannot be is said.
 */
export async function checkAlarm(stage: Stage, say: (line: string) => void): Promise<Finding> {
  const { what, documented } = facts.alarm;
  const at = { region: stage.region };
  const [cloudWatch, sns, sqs] = [new CloudWatchClient(at), new SNSClient(at), new SQSClient(at)];
  const AlarmName = nameIn(stage, 'undelivered');
  const topicName = nameIn(stage, 'alarms');
  const { MetricAlarms = [] } = await cloudWatch.send(new DescribeAlarmsCommand({ AlarmNames: [AlarmName] }));
  const TopicArn = MetricAlarms[0]?.AlarmActions?.find((action) => action.endsWith(`:${topicName}`));
  if (TopicArn === undefined) {
    return { what, documented, measured: `the alarm ${AlarmName} does not exist, or does not tell ${topicName}`, holds: false };
  }

  const QueueName = `${nameIn(stage, 'accept')}-${randomUUID().slice(0, 8)}`;
  const queueArn = TopicArn.replace(':sns:', ':sqs:').replace(topicName, QueueName);
  const Policy = policyFor(queueArn, TopicArn);
  const { QueueUrl } = await sqs.send(new CreateQueueCommand({ QueueName, Attributes: { Policy } }));
  let SubscriptionArn: string | undefined;
  const setState = (StateValue: 'ALARM' | 'OK') =>
    cloudWatch.send(new SetAlarmStateCommand({ AlarmName, StateValue, StateReason: 'npm run accept tests this alarm' }));
  try {
    const subscribed = await sns.send(
      new SubscribeCommand({ TopicArn, Protocol: 'sqs', Endpoint: queueArn, ReturnSubscriptionArn: true }),
    );
    SubscriptionArn = subscribed.SubscriptionArn;
    const start = performance.now();
    await setState('ALARM');
    while (performance.now() - start < longestInSeconds * 1_000) {
      const { Messages = [] } = await sqs.send(new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: longestPollInSeconds }));
      if (!Messages.some(({ Body = '' }) => Body.includes(AlarmName))) continue;
      const seconds = ((performance.now() - start) / 1_000).toFixed(1);
      return { what, documented, measured: `after ${seconds} s`, holds: true };
    }
    return { what, documented, measured: `no message within ${longestInSeconds} s`, holds: false };
  } finally {
    const cleaned = await Promise.allSettled([
      setState('OK'),
      SubscriptionArn === undefined ? undefined : sns.send(new UnsubscribeCommand({ SubscriptionArn })),
      sqs.send(new DeleteQueueCommand({ QueueUrl })),
    ]);
    for (const client of [cloudWatch, sns, sqs]) client.destroy();
    for (const step of cleaned)
      if (step.status === 'rejected') say(`Cleaning up after the alarm test failed: ${String(step.reason)}`);
  }
}

/** Lets the topic send to the queue. */
function policyFor(queueArn: string, topicArn: string): string {
  return JSON.stringify({
    Version: '2012-10-17',
    Statement: [
      {
        Effect: 'Allow',
        Principal: { Service: 'sns.amazonaws.com' },
        Action: 'sqs:SendMessage',
        Resource: queueArn,
        Condition: { ArnEquals: { 'aws:SourceArn': topicArn } },
      },
    ],
  });
}
