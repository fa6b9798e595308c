import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Drill, Incident, Page } from './incident-drill.ts';

const reverting = 'the emulator reverts no drift, so the drill undoes it after the command';

/**
 * The incidents that the drill causes in a stage. The first one comes before API Gateway has read the keys of the issuer, which the
 * emulator keeps for two hours.
 */
export const incidents: readonly Incident[] = [
  {
    name: 'The issuer is down',
    alarm: 'callers-refused',
    break: async (drill) => {
      drill.emulated.emulator.issuer.isUp = false;
      await drill.send(110, 'computations');
    },
    follow: async ({ emulated }, page) => {
      const issuer = emulated.output('state', 'ExportsOutputFnGetAttUsersPool');
      const { endpoint } = emulated.emulator.issuer;
      const curl = `curl() { command curl "\${@/${new URL(issuer).origin.replaceAll('/', '\\/')}/${endpoint}}"; }`;
      const isDown = await page.run('curl', { issuer }, curl).then(
        () => false,
        () => true,
      );
      if (!isDown) throw new Error('The command of the page says that the issuer answers.');
      page.says("tell the issuer's operator");
      emulated.emulator.issuer.isUp = true;
      expectText(await page.run('curl', { issuer }, curl), 'jwks_uri');
    },
  },
  {
    name: 'A key is disabled',
    alarm: 'key-changes',
    simulated: 'the message of CloudTrail is put into the queue of the rule',
    break: async (drill) => {
      const key = drill.emulated.output('state', 'ExportsOutputFnGetAttSealingKey');
      await drill.shell(`aws kms disable-key --key-id ${key}`);
      const body = {
        'detail-type': 'AWS API Call via CloudTrail',
        detail: { eventName: 'DisableKey', resources: [{ ARN: key }] },
      };
      const queue = `$(aws sqs get-queue-url --queue-name ${drill.name('key-changes')} --query QueueUrl --output text)`;
      await drill.shell(`aws sqs send-message --queue-url ${queue} --message-body '${JSON.stringify(body)}'`);
    },
    follow: async (drill, page) => {
      const queue = await page.run('queue=');
      const message = await page.run('aws sqs receive-message', {}, queueIs(drill));
      const [key = ''] = /arn:aws:kms:[^"]+/.exec(message) ?? [];
      if (key === '' || queue !== '') throw new Error(`The message names no key: ${message}`);
      await page.run('aws kms enable-key', { key });
      await page.run('aws sqs purge-queue', {}, queueIs(drill));
    },
  },
  {
    name: 'Content is deleted from storage',
    alarm: 'content-missing',
    break: async (drill) => {
      const { asset } = await drill.client.createReady(1_000);
      const bucket = drill.names['ContentBucketName'] ?? '';
      const list = `aws s3api list-objects-v2 --bucket ${bucket} --query 'Contents[].Key' --output text`;
      const key = (await drill.shell(list)).split(/\s+/).find((each) => each.includes(asset)) ?? '';
      await drill.shell(`aws s3api delete-object --bucket ${bucket} --key ${key}`);
      await drill.until('the deletion is logged', async () => (await drill.lines('ContentMissing')).length > 0);
    },
    follow: async (drill, page) => {
      page.says('`filter level = "ERROR"`');
      const [line = '{}'] = (await drill.lines('ERROR')).filter((each) => each.includes('receive-upload'));
      const { key = '' } = JSON.parse(line) as { key?: string };
      const marker = await page.run('aws s3api list-object-versions', { key });
      await page.run('aws s3api delete-object', { key, marker });
      await drill.shell(`aws s3api head-object --bucket ${drill.names['ContentBucketName']} --key ${key}`);
    },
  },
  {
    name: 'The role of a function loses its permissions',
    alarm: 'computations-create-computation',
    simulated: reverting,
    break: async (drill) => {
      await takePermissions(drill, 'computations/create-computation');
      await drill.send(4, 'computations', { name: 'Refused' });
    },
    follow: async (drill, page) => {
      await page.errors('AccessDenied');
      await followToPermission(page);
      await givePermissions(drill, 'computations/create-computation');
    },
  },
  {
    name: 'API Gateway may not call a function',
    alarm: 'unanswered-requests',
    simulated: `the emulator calls it nevertheless, so the 5xx are set; ${reverting}`,
    break: (drill) => takePolicy(drill, 'computations/list-computations'),
    values: { '5xx': [5], RequestsFailed: [] },
    follow: async (drill, page) => {
      await followToPermission(page);
      await givePolicy(drill, 'computations/list-computations');
    },
  },
  {
    name: 'A rule may not call its task',
    alarm: 'fold-silent',
    simulated: `the emulator calls it nevertheless, so its calls are left out; ${reverting}`,
    break: (drill) => takePolicy(drill, 'maintenance/fold-lists'),
    values: { 'Invocations maintenance-fold-lists': [] },
    follow: async (drill, page) => {
      const policy = await page.run('aws lambda get-policy', ofTask('maintenance/fold-lists')).catch(() => 'None');
      if (policy.includes('events.amazonaws.com')) throw new Error(`The permission was not taken: ${policy}`);
      await page.linked('revert-what-was-changed-outside').run('npx cdk deploy');
      await givePolicy(drill, 'maintenance/fold-lists');
      await drill.untilCalled('maintenance/fold-lists', 1);
    },
  },
  {
    name: 'A schedule is left disabled',
    alarm: 'purge-silent',
    break: async (drill) => {
      await drill.shell(`aws events disable-rule --name ${await ruleOf(drill, 'maintenance/purge')}`);
      await drill.aMinute();
    },
    follow: async (drill, page) => {
      const [name = '', state] = (await page.run('aws events list-rules', ofTask('maintenance/purge'))).split(/\s+/);
      expectText(state ?? '', 'DISABLED');
      await page.run('aws events enable-rule', { name });
      await drill.untilCalled('maintenance/purge', 1);
    },
  },
  {
    name: 'A scheduled task may have no execution',
    alarm: 'sweep-silent',
    break: async (drill) => {
      const name = drill.name('lifecycle/sweep-runs');
      await drill.shell(`aws lambda put-function-concurrency --reserved-concurrent-executions 0 --function-name ${name}`);
      await drill.aMinute();
    },
    follow: async (drill, page) => {
      expectText(await page.run('aws lambda get-function-concurrency', ofTask('lifecycle/sweep-runs')), '0');
      await page.run('aws lambda put-function-concurrency', { name: drill.name('lifecycle/sweep-runs') });
      await drill.untilCalled('lifecycle/sweep-runs', 1);
    },
  },
  {
    name: 'The stream of the table is not read',
    alarm: 'table-stream-silent',
    break: async (drill) => {
      const uuid = await drill.shell(
        `aws lambda list-event-source-mappings --function-name ${drill.name('maintenance/follow-table')} --query 'EventSourceMappings[].UUID' --output text`,
      );
      await drill.shell(`aws lambda update-event-source-mapping --no-enabled --uuid ${uuid}`);
      await drill.untilQuiet('maintenance/follow-table');
      await drill.begin();
      await drill.client.round();
    },
    follow: async (drill, page) => {
      const mapping = await page.run('aws lambda list-event-source-mappings');
      expectText(mapping, 'Disabled');
      const [UUID = ''] = /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(mapping) ?? [];
      await page.run('aws lambda update-event-source-mapping', { UUID });
      await Promise.all([drill.untilCalled('maintenance/follow-table', 1), drill.client.round()]);
    },
  },
  {
    name: 'The pipe to the event bus is stopped',
    alarm: 'events-silent',
    simulated: 'the emulator writes no metrics of pipes, so their calls are left out',
    break: async (drill) => {
      await drill.shell(`aws pipes stop-pipe --name ${drill.name('events')}`);
      await drill.client.round();
    },
    values: { 'Invocations events': [] },
    follow: async (drill, page) => {
      expectText(await page.run('aws pipes list-pipes'), 'STOP');
      await page.run('aws pipes start-pipe', { name: drill.name('events') });
      await drill.until('the pipe runs', async () => (await page.run('aws pipes list-pipes')).includes('RUNNING'));
    },
  },
  {
    name: 'The schedule of the canary is disabled',
    alarm: 'canary-silent',
    simulated: 'the half hour without a call',
    break: async (drill) => {
      await drill.shell(`aws events disable-rule --name ${await ruleOf(drill, 'the canary')}`);
    },
    values: { 'Invocations canary': [] },
    follow: async (_drill, page) => {
      const schedule = page.linked('a-schedule-does-not-run');
      const [name = '', state] = (await schedule.run('aws events list-rules', { task: 'the canary' })).split(/\s+/);
      expectText(state ?? '', 'DISABLED');
      await schedule.run('aws events enable-rule', { name });
    },
  },
  {
    name: 'The state machine may not call a step',
    alarm: 'run-lifecycle',
    simulated: `the emulator does not check its role, so its first state fails as AWS lets it fail; ${reverting}`,
    break: async (drill) => {
      const machine = drill.names['StateMachineArn'] ?? '';
      const get = `aws stepfunctions describe-state-machine --state-machine-arn ${machine} --query definition --output text`;
      await drill.shell(`${get} > definition.json`);
      const Cause = `The role is not authorized to perform: lambda:InvokeFunction on ${drill.name('lifecycle/offer-run')}`;
      const fails = { StartAt: 'Refused', States: { Refused: { Type: 'Fail', Error: 'Lambda.AWSLambdaException', Cause } } };
      writeFileSync(join(drill.emulated.place.folder, 'broken.json'), JSON.stringify(fails));
      await drill.shell(`aws stepfunctions update-state-machine --state-machine-arn ${machine} --definition file://broken.json`);
      await drill.client.startOnly();
      await drill.until('the execution fails', async () => (await drill.executions('ExecutionsFailed')) > 0);
    },
    follow: async (drill, page) => {
      const status = { 'FAILED, TIMED_OUT or ABORTED': 'FAILED' };
      const arn =
        /arn:aws:states:[^"]+:execution:[^"]+/.exec(await page.run('aws stepfunctions list-executions', status))?.[0] ?? '';
      expectText(await page.run('aws stepfunctions get-execution-history', { arn }), 'not authorized');
      await followToPermission(page);
      const machine = drill.names['StateMachineArn'] ?? '';
      await drill.shell(
        `aws stepfunctions update-state-machine --state-machine-arn ${machine} --definition file://definition.json`,
      );
    },
  },
  {
    name: 'Somebody aborts an execution',
    alarm: 'run-lifecycle',
    break: async (drill) => {
      const execution = await drill.client.startOnly();
      const machine = (drill.names['StateMachineArn'] ?? '').replace(':stateMachine:', ':execution:');
      await drill.shell(`aws stepfunctions stop-execution --execution-arn ${machine}:run-${execution}`);
    },
    follow: async (_drill, page) => {
      const status = { 'FAILED, TIMED_OUT or ABORTED': 'ABORTED' };
      const arn =
        /arn:aws:states:[^"]+:execution:[^"]+/.exec(await page.run('aws stepfunctions list-executions', status))?.[0] ?? '';
      expectText(await page.run('aws stepfunctions get-execution-history', { arn }), 'ExecutionAborted');
      page.says('Users start the run again if they still need it.');
    },
  },
  {
    name: 'An event cannot be delivered',
    alarm: 'undelivered',
    simulated: `the emulator gives up no event, so the drill puts it into the queue; ${reverting}`,
    break: async (drill) => {
      await takePermissions(drill, 'maintenance/receive-upload');
      const key = await drill.client.expectUpload();
      await drill.shell(`aws s3api put-object --bucket ${drill.names['ContentBucketName']} --key ${key}`);
      await drill.until('the event fails', async () =>
        (await drill.lines('ERROR')).some((line) => line.includes('AccessDenied')),
      );
      await drill.shell(`aws sqs send-message --queue-url ${drill.names['UndeliveredUrl']} --message-body '{"key":"${key}"}'`);
    },
    follow: async (drill, page) => {
      const message = JSON.parse(await page.run('aws sqs receive-message')) as {
        Messages: { Body: string; ReceiptHandle: string }[];
      };
      const [{ Body, ReceiptHandle } = { Body: '', ReceiptHandle: '' }] = message.Messages;
      const task = page.linked('a-task-fails');
      await task.errors('AccessDenied');
      await followToPermission(task);
      await givePermissions(drill, 'maintenance/receive-upload');
      writeFileSync(join(drill.emulated.place.folder, 'body.json'), Body);
      await page.run('aws lambda invoke', { task: 'maintenance-receive-upload' });
      await page.run('aws sqs delete-message', { ReceiptHandle });
    },
  },
  {
    name: 'The table is throttled',
    alarm: 'table-throttles',
    simulated: 'DynamoDB refuses requests at the edge of the SDK, and what it refuses is its metric',
    break: async (drill) => {
      drill.throttleTable(true);
      await drill.send(2, 'computations', { name: 'Refused' });
    },
    follow: async (drill, page) => {
      await page.run('aws dynamodb update-contributor-insights');
      page.says('wait, if traffic has grown');
      drill.throttleTable(false);
    },
  },
  {
    name: 'A version does not start',
    alarm: 'api-failures',
    break: async (drill) => {
      await deployBroken(drill, 'computations/list-computations');
      await drill.send(5, 'computations');
    },
    follow: async (drill, page) => {
      page.says('All endpoints since a deployment');
      const rolling = page.linked('rolling-back');
      await rolling.run('npx cdk deploy');
      await drill.send(1, 'computations');
    },
  },
];

function expectText(text: string, part: string): void {
  if (!text.includes(part)) throw new Error(`Expected ${JSON.stringify(part)} in: ${text}`);
}

const ofTask = (task: string) => ({ task, 'task with a hyphen': task.replace('/', '-') });

const queueIs = (drill: Drill) =>
  `queue=$(aws sqs get-queue-url --queue-name ${drill.name('key-changes')} --query QueueUrl --output text)`;

/** An entry of a log or a history leads to the permission: what differs, and how it is reverted. */
async function followToPermission(page: Page): Promise<void> {
  const permission = page.linked('a-permission-is-missing');
  await permission.run('npx cdk drift');
  await permission.linked('revert-what-was-changed-outside').run('npx cdk deploy');
}

async function ruleOf(drill: Drill, task: string): Promise<string> {
  return await drill.shell(`aws events list-rules --query "Rules[?Description=='Calls ${task}'].Name" --output text`);
}

const roleOf = (drill: Drill, name: string) =>
  `role=$(aws lambda get-function-configuration --function-name ${drill.name(name)} --query Role --output text); role=\${role##*/}`;

/** Takes the table from the policy of a function's role, and keeps the policy in a file. */
async function takePermissions(drill: Drill, name: string): Promise<void> {
  const policy = 'aws iam get-role-policy --role-name $role --policy-name uses --query PolicyDocument';
  const text = await drill.shell(`${roleOf(drill, name)}; ${policy} > policy.json; cat policy.json`);
  const { Version, Statement } = JSON.parse(text) as { Version: string; Statement: object[] };
  const others = Statement.filter((each) => !JSON.stringify(each).includes('dynamodb:')); // the queue of undelivered events needs its own
  writeFileSync(join(drill.emulated.place.folder, 'less.json'), JSON.stringify({ Version, Statement: others }));
  const put = 'aws iam put-role-policy --role-name $role --policy-name uses --policy-document file://less.json';
  await drill.shell(`${roleOf(drill, name)}; ${put}`);
}

async function givePermissions(drill: Drill, name: string): Promise<void> {
  const put = 'aws iam put-role-policy --role-name $role --policy-name uses --policy-document file://policy.json';
  await drill.shell(`${roleOf(drill, name)}; ${put}`);
}

/** Removes what lets others call a function, and keeps it in a file. */
async function takePolicy(drill: Drill, name: string): Promise<void> {
  const text = await drill.shell(`aws lambda get-policy --function-name ${drill.name(name)} --query Policy --output text`);
  writeFileSync(join(drill.emulated.place.folder, 'statements.json'), text);
  for (const { Sid } of statementsOf(text))
    await drill.shell(`aws lambda remove-permission --function-name ${drill.name(name)} --statement-id ${Sid}`);
}

async function givePolicy(drill: Drill, name: string): Promise<void> {
  for (const { Sid, Principal, Condition } of statementsOf(
    readFileSync(join(drill.emulated.place.folder, 'statements.json'), 'utf8'),
  ))
    await drill.shell(
      `aws lambda add-permission --function-name ${drill.name(name)} --statement-id ${Sid} --action lambda:InvokeFunction ` +
        `--principal ${Principal.Service} --source-arn '${Condition.ArnLike['AWS:SourceArn']}'`,
    );
}

interface Statement {
  Sid: string;
  Principal: { Service: string };
  Condition: { ArnLike: { 'AWS:SourceArn': string } };
}

const statementsOf = (policy: string) => (JSON.parse(policy) as { Statement: Statement[] }).Statement;

/** Deploys a version in which a function does not start. */
async function deployBroken(drill: Drill, name: string): Promise<void> {
  const { stage, place, cdk, emulator } = drill.emulated;
  const broken = join(place.folder, 'cdk.broken');
  cpSync(join(place.folder, 'cdk.out'), broken, { recursive: true });
  const folder = join(broken, `assembly-${stage.name}`);
  const [file = ''] = readdirSync(folder).filter((each) => each.includes('Service') && each.endsWith('.template.json'));
  const template = JSON.parse(readFileSync(join(folder, file), 'utf8')) as {
    Resources: Record<string, { Properties?: { FunctionName?: string; Handler?: string } }>;
  };
  for (const { Properties } of Object.values(template.Resources))
    if (Properties?.FunctionName === drill.name(name)) Properties.Handler = 'nothing.handler';
  writeFileSync(join(folder, file), JSON.stringify(template));
  const assets = join(folder, file.replace('.template.json', '.assets.json'));
  const { files } = JSON.parse(readFileSync(assets, 'utf8')) as { files: Record<string, { source: { path: string } }> };
  const [key = ''] = Object.keys(files).filter((each) => files[each]?.source.path === file);
  for (const each of [assets, join(folder, 'manifest.json')])
    // a template is not uploaded again under the same key
    writeFileSync(each, readFileSync(each, 'utf8').replaceAll(`${key}.json`, `broken-${key}.json`));
  const options = ['--app', broken, '--exclusively', '--require-approval', 'never'];
  await cdk(['deploy', `${stage.name}/Service`, ...options], emulator.awsEnvironment);
}
