import { computationKey } from '../../../shared/rows/computation.ts';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { fingerprintOfCertificate } from 'computation-management-formats/certificates';
import { sealForTee } from 'computation-management-key-release';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { functionNames, type FunctionName } from '../../../infra/service/service-function.ts';
import { startStack, type Stack } from '../../../local/stack.ts';
import { routes } from '../../../shared/endpoints/endpoints.ts';
import { mailerOfStage } from '../../../shared/notifications/index.ts';
import { replaceClient } from '../../../shared/runtime/clients.ts';
import { foldsLists, type Uses } from '../../../shared/runtime/uses.ts';
import { tasks } from '../../../shared/tasks/tasks.ts';
import { machineToken, trustForgedMachines } from '../../support/attested-agents.ts';
import { attestingCvms } from '../../support/attesting-cvm.ts';
import { newCertificate } from '../../support/cvm-certificate.ts';
import { KbsClient } from '../../support/kbs-client.ts';
import { strictPolicy } from '../../support/strict-policy.ts';
import { testClock } from '../../support/test-clock.ts';
import { untilTestEnds } from '../../support/patience.ts';
import { recordCalls, watchFunctions } from '../../support/recorded-calls.ts';
import { callAs, publicKey, readyComputation, type Call } from '../../support/ready-computation.ts';

function ofTable(action: string): string {
  return `dynamodb:${action}`;
}

/** Actions that the scenario below does not reach: races, repairs after a crash and large lists, which other tests provoke. */
const notReached: Partial<Record<FunctionName, string[]>> = {
  'lifecycle/offer-run': ['states:SendTaskSuccess'],
  'lifecycle/await-cvm': ['states:SendTaskSuccess', 'states:SendTaskFailure'],
  'lifecycle/deliver-stop': ['states:SendTaskSuccess', 'states:SendTaskFailure'],
  'lifecycle/sweep-runs': ['states:SendTaskSuccess'],
  'cvms/list-commands': ['dynamodb:Query'], // looks for a free slot if another wait has the first one
  'attestation/get-attestation': ['s3:GetObject'], // by the client, with a presigned link
  'attestation/verify-token': ['states:SendTaskSuccess'],
  'runs/start-run': ['s3:ListBucket'], // tells a token that is gone from one that may not be read
  'runs/dry-run': ['s3:ListBucket'],
  'evidence/get-evidence': ['kms:GetPublicKey', 's3:ListBucket'], // here all functions share a process, which reads a public key once
  'results/get-result': ['kms:GetPublicKey', 's3:ListBucket'],
  'releases/attest': ['kms:GetPublicKey', 'kms:GenerateDataKey', 'kms:Decrypt'], // here, releases/auth makes the secret, and reads it
  'releases/list-releases': ['kms:GetPublicKey'],
  'releases/get-key': ['kms:GetPublicKey'],
  'history/get-checkpoint': ['s3:ListBucket'], // tells a missing object from one that may not be read
  'history/get-tile': ['s3:ListBucket'],
  'maintenance/integrate-log': ['kms:GetPublicKey', 's3:ListBucket'],
  'notifications/set-notifications': ['dynamodb:UpdateItem'], // for the limit of the domain, which this stack has not
  'notifications/unsubscribe': ['dynamodb:PutItem', 'kms:GenerateDataKey', 'kms:Decrypt'], // here, maintenance/send-mails makes the secret, and reads it
  'maintenance/purge': ['dynamodb:BatchGetItem', 'dynamodb:PutItem'],
  'maintenance/receive-upload': ['dynamodb:PutItem', 's3:DeleteObject'],
  'computations/delete-computation': ['lambda:InvokeFunction'],
  'assets/delete-asset': ['lambda:InvokeFunction'],
  'maintenance/collect-content': ['dynamodb:PutItem', 'dynamodb:UpdateItem', 'dynamodb:ConditionCheckItem', 's3:GetObject'],
  // Only a computation with 500 keys, approvals or refusals has its links read in batches (shared/rows/definition.ts).
  'computations/get-computation': ['dynamodb:BatchGetItem'],
  'computations/update-computation': ['dynamodb:BatchGetItem'],
  'keys/upload-key': ['dynamodb:BatchGetItem'],
  'maintenance/send-mails': ['dynamodb:BatchGetItem'], // a list whose newest members are gone
  // Only lists of more than 900 members have nodes that are read one by one.
  'computations/list-computations': ['dynamodb:BatchGetItem'],
  'runs/list-runs': ['dynamodb:BatchGetItem'],
  'assets/list-assets': ['dynamodb:BatchGetItem'],
  // Fold only lists with more changes (test/shared/table/fold-lists.test.ts).
  'maintenance/fold-lists': foldsLists.map(ofTable),
  'maintenance/follow-table': [
    ...[...foldsLists, 'DescribeStream', 'GetRecords', 'GetShardIterator', 'ListStreams'].map(ofTable),
    ...['s3:GetObject', 's3:PutObject', 's3:ListBucket', 'kms:GetPublicKey', 'kms:Sign'], // here, maintenance/integrate-log does it
  ],
};

/** Now and then it is the turn of a function that changes a list to look at its log, and to mark it. */
const ofLooks = ['GetItem', 'Query', 'PutItem'].map(ofTable);
/** Read if a journal has a gap, to distinguish damage from a concurrent deletion. */
const gapCheck = 'dynamodb:GetItem';

const calls = recordCalls();
const functions = watchFunctions(calls.load);
const clock = testClock();
const stopInSeconds = 600;
let stack: Stack;
let call: Call;

const path = (id: string) => `/d1/computations/${id}`;
const asset = (fields: Record<string, unknown> = {}) => ({
  asset: { file_name: `${randomUUID()}.csv`, asset_type: 'dataset', asset: btoa('a,b'), ...fields },
});

async function done(...request: Parameters<Call>): Promise<Record<string, unknown>> {
  const [method, route] = request;
  const reply = await call(...request);
  if (reply.status >= 300) throw new Error(`${method} ${route} answered ${reply.status}: ${JSON.stringify(reply.body)}`);
  return reply.body;
}

const once = () => ({ 'idempotency-key': randomUUID() });

async function report(cvm: string, runId: string, ...reports: Record<string, unknown>[]): Promise<void> {
  const body = { reports: reports.map((each) => ({ id: randomUUID(), run_id: runId, ...each })) };
  await done('POST', `/d1/cvms/${cvm}/reports`, body);
}

/** The number of events in an index segment, so that the next append writes one. */
const muchToTell = Array.from({ length: 5 }, () => ({
  type: 'event',
  event_type: 'Running',
  status: 'InProgress',
  details: Buffer.alloc(32 * 1024, 'x').toString('base64'),
}));

async function latestRun(id: string): Promise<{ id: string; status: string; cvm_id: string; result: unknown }> {
  return (await done('GET', `${path(id)}/run`)) as Awaited<ReturnType<typeof latestRun>>;
}

async function accepted(id: string, cvm: string): Promise<string> {
  const runId = (await done('POST', `${path(id)}/run?cvm=${cvm}`)) as unknown as string;
  const command = await vi.waitFor(async () => {
    const { commands } = await done('GET', `/d1/cvms/${cvm}/commands`);
    const [first] = commands as { id: string }[];
    if (!first) throw new Error('No command yet.');
    return first;
  }, untilTestEnds);
  await report(cvm, runId, { type: 'accepted', command_id: command.id }, { type: 'heartbeat' });
  return runId;
}

const untilOver = (id: string) => vi.waitUntil(async () => !(await latestRun(id)).status.endsWith('ing'), untilTestEnds);

const called = (name: FunctionName, action: string) => vi.waitUntil(() => calls.actionsOf(name).includes(action), untilTestEnds);

/** Commits a run without starting its execution. */
async function withoutExecution(
  id: string,
  cvm: string,
  meanwhile: (run: Record<string, string>) => Promise<unknown>,
  error?: Error,
) {
  const held = calls.hold('runs/start-run', 'states:StartExecution');
  const answer = call('POST', `${path(id)}/run?cvm=${cvm}`);
  await held.reached;
  const run = await latestRun(id);
  await meanwhile({ domain: 'd1', computation_id: id, run_id: run.id, cvm_id: run.cvm_id });
  held.letGo(error);
  await answer;
  await untilOver(id);
}

/** Calls every function at least once, including rare cases: a journal's index, a missing execution, an interrupted purge. */
async function liveThroughIt(): Promise<void> {
  const id = await readyComputation(call);
  const first = await accepted(id, 'cvm-1');
  await report('cvm-1', first, ...muchToTell, { type: 'event', event_type: 'Complete', status: 'Completed' });
  await untilOver(id);
  const grow = () => report('cvm-1', first, ...muchToTell);

  await repeatCreates();
  await changeInputs(id, grow);
  await approve(id, grow);
  await grow();
  await grow();
  await withoutExecution(id, 'cvm-2', grow, new Error('Step Functions is down.'));
  await withoutExecution(id, 'cvm-3', async () => {
    await grow();
    await stack.invoke('lifecycle/sweep-runs', { grace_in_seconds: 0 });
  });
  await withoutExecution(id, 'cvm-4', async (run) => {
    await grow();
    await stack.invoke('lifecycle/complete-stop', run);
  });
  await withoutExecution(id, 'cvm-5', async (run) => {
    await grow();
    const detail = { name: `run-${run.run_id}`, status: 'ABORTED', input: JSON.stringify({ action: 'run', ...run }) };
    await stack.invoke('lifecycle/execution-ended', { detail });
  });
  await stopRuns(id, grow);
  await registerCvms();
  await attest(id);
  await read(id);
  const reviewed = await reviewResult();
  await releaseKeys();
  await getMail();
  await done('DELETE', path(reviewed));
  await remove(id);
}

/** Enough changes of the list for a fold by each function that changes it. */
async function registerCvms(): Promise<void> {
  const cvms = Array.from({ length: 40 }, (_, index) => `/d1/cvms/registered-${index}`);
  for (const cvm of cvms) await done('PUT', cvm, { description: '' });
  await done('GET', '/d1/cvms?offset=1&limit=100');
  await done('GET', cvms[0] ?? '');
  await done('PUT', cvms[0] ?? '', { description: 'changed' });
  await done('GET', `${cvms[0] ?? ''}/commands`);
  for (const cvm of cvms) await call('DELETE', cvm);
}

async function attest(id: string): Promise<void> {
  await done('PUT', '/d1/cvms/attested', { description: '', certificate: await newCertificate() });
  await done('PUT', '/d1/cvms/attested', { description: '', certificate: await newCertificate() });
  const gateway = attestingCvms('d1');
  await gateway.connect('attested');
  await gateway.send('attested', btoa(`e30.${btoa('{"platform_type":"NoCC"}')}.`));
  await called('attestation/verify-token', ofTable('ConditionCheckItem'));
  await done('GET', `${path(id)}/attestation`);
  const attestation_policy = { platforms: ['snp'], measurements: ['ab'.repeat(48)] };
  await done('PUT', path(id), { name: 'Attested', attestation_policy, agent_config: withKey });
  await done('POST', `${path(id)}/dryrun?cvm=attested`);
  await call('POST', `${path(id)}/run?cvm=attested`);
}

/** Hands in two files of a result, of which the second takes the place of the first, and releases it. @returns the computation */
async function reviewResult(): Promise<string> {
  const id = await readyComputation(call);
  const result_review = { reviewers: ['alice'], needed: 1 };
  await done('PUT', path(id), { name: 'Reviewed', owner: 'bob', consumers: ['carol'], result_review });
  const run = await accepted(id, 'cvm-8');
  await report('cvm-8', run, { type: 'event', event_type: 'Complete', status: 'Completed' });
  await untilOver(id);
  const result = `${path(id)}/result`;
  let checksum = '';
  for (const content of ['first', 'second']) {
    if (content === 'second') {
      const later = await accepted(id, 'cvm-9'); // from here on, the computation has a newer run than that of the result
      await report('cvm-9', later, { type: 'event', event_type: 'Complete', status: 'Completed' });
      await untilOver(id);
    }
    checksum = createHash('sha3-256').update(content).digest('hex');
    const given = { file_name: 'counts.csv', size: content.length, checksum };
    const { id: handedIn, upload } = await done('POST', `${result}?run=${run}`, given);
    await put(upload, 'another file');
    const renewed = await vi.waitFor(async () => {
      const { upload } = await done('GET', `/d1/assets/${String(handedIn)}`);
      expect(upload).toHaveProperty('problem');
      return upload;
    }, untilTestEnds);
    await report('cvm-8', run, ...muchToTell);
    await put(renewed, content);
    const arrived = { state: 'under_review', checksum };
    const ofRun = async () => (await done('GET', `${path(id)}/run?run=${run}`))['result'];
    await vi.waitFor(async () => expect(await ofRun()).toMatchObject(arrived), untilTestEnds);
  }
  await report('cvm-8', run, ...muchToTell);
  await done('POST', `${result}/decision?run=${run}`, { decision: 'release', checksum });
  await vi.waitFor(() => done('GET', `${result}?run=${run}`), untilTestEnds);
  return id;
}

/** Sets and removes keys of assets, and gets the keys of a run: one from the service, one from the broker of a party. */
async function releaseKeys(): Promise<void> {
  trustForgedMachines();
  const [cvm, guest, secret] = ['keyed', randomBytes(32), randomBytes(32)];
  const certificate = await newCertificate();
  await done('PUT', `/d1/cvms/${cvm}`, { description: '', certificate });
  const gateway = attestingCvms('d1', clock);
  await gateway.connect(cvm);
  const token = machineToken(certificate, (bytes) => void guest.copy(bytes, 0x140));
  await gateway.send(cvm, Buffer.from(token).toString('base64'));
  await vi.waitFor(
    async () => expect((await done('GET', `/d1/cvms/${cvm}`))['attestation']).toMatchObject({ verdict: 'verified' }),
    untilTestEnds,
  );

  const id = await readyComputation(call);
  const held = { held: 'service', key: secret.toString('base64'), release_policy: strictPolicy };
  const fingerprint = createHash('sha256').update(secret).digest('hex');
  const [ofService, ofParty] = await Promise.all([
    keyedAsset(id, held),
    keyedAsset(id, { ...held, key: undefined, held: 'party', fingerprint }),
  ]);
  await done('GET', `/d1/assets/${ofService}/key`);
  const run = (await done('POST', `${path(id)}/run?cvm=${cvm}`)) as unknown as string;
  const identity = { domain: 'd1', cvmId: cvm };
  const command = await vi.waitFor(async () => {
    const { commands } = await gateway.service.work(identity);
    const [first] = commands;
    if (!first) throw new Error('No command yet.');
    return first;
  }, untilTestEnds);
  const record = await gateway.service.agentRecord(identity);
  const of = { run_id: run, computation_id: id };
  const connection = { stream: gateway.streamOf(cvm), certificate: fingerprintOfCertificate(certificate) };
  await gateway.service.bindAgent(identity, { ...record, ...of, attempted_run_id: run, attempts: 1, ...connection });
  await gateway.service.keepProcessOfRun({ ...identity, process: record.process ?? '', ...of });
  await gateway.report(cvm, { id: randomUUID(), run_id: run, type: 'accepted', command_id: command.id });

  const client = new KbsClient(`${stack.baseUrl}/d1`, guest);
  const succeeded = ({ status, body }: { status: number; body: object }) => {
    if (status !== 200) throw new Error(`The key broker answered ${status}: ${JSON.stringify(body)}`);
  };
  succeeded(await client.auth());
  succeeded(await client.attest({ withoutCertificates: true }));
  const answers = answerForAgent(gateway.service);
  succeeded(await client.get(ofService, { by: 'token' }));
  await done('GET', '/d1/releases?wait=1');
  const asks = client.get(ofParty);
  const asked = await vi.waitFor(async () => {
    const { releases } = await done('GET', '/d1/releases');
    const [first] = releases as { id: string }[];
    if (!first) throw new Error('No request yet.');
    return first;
  }, untilTestEnds);
  const answer = { jwe: sealForTee(secret, client.teePublicKey) };
  await done('POST', `/d1/releases/${asked.id}`, answer, once());
  succeeded(await asks);
  answers.stop();
  const end = { type: 'event', event_type: 'Complete', status: 'Completed' };
  await gateway.report(cvm, { id: randomUUID(), run_id: run, ...end });
  await untilOver(id);
  for (const asset of [ofService, ofParty]) await done('DELETE', `/d1/assets/${asset}/key`, undefined, once());
}

/** Creates an asset with a key, and links it to a computation. */
async function keyedAsset(computation: string, key: object): Promise<string> {
  const id = String((await done('POST', '/d1/assets', asset()))['id']);
  await done('POST', `/d1/assets/${id}/${computation}`);
  await done('PUT', `/d1/assets/${id}/key`, key, once());
  return id;
}

/** Answers the service for an agent that waits for files, as its gateway does. */
function answerForAgent({ messages, sendMessage, removeMessage }: ReturnType<typeof attestingCvms>['service']) {
  const look = async () => {
    for (const message of await messages()) {
      if (message.type === 'question')
        await sendMessage(message.from, { type: 'answer', id: message.id, state: 'ReceivingData' });
      await removeMessage('gateway-1', message.id);
    }
  };
  const timer = setInterval(() => void look(), 100);
  return { stop: () => clearInterval(timer) };
}

/** Turns mail on and off, gets a mail about an invitation, and unsubscribes with its link. */
async function getMail(): Promise<void> {
  const mails: { unsubscribeUrl: string }[] = [];
  const send = (mail: { unsubscribeUrl: string }) => Promise.resolve(void mails.push(mail));
  replaceClient(mailerOfStage, { send, page: stack.baseUrl, api: stack.baseUrl });
  const erin = callAs(stack.baseUrl, await stack.token('erin', ['d1:creator'], 3_600, 'erin@example.com'));
  for (const email of [true, false, false, true])
    await erin('PUT', '/d1/notifications', { email }, { 'idempotency-key': String(email) });
  for (const email of [false, true]) await erin('PUT', '/d1/notifications', { email });
  await erin('GET', '/d1/notifications');
  const { id } = await done('POST', '/d1/computations', { name: 'Invites', providers: ['erin'] });
  await followTable(String(id));
  await functions.untilIdle();
  clock.move(10_000);
  await stack.invoke('maintenance/send-mails', {});
  const link = mails[0]?.unsubscribeUrl ?? '';
  await fetch(link);
  const answer = await fetch(link, { method: 'POST', body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }) });
  if (!answer.ok) throw new Error(`The link to unsubscribe answered ${answer.status}: ${await answer.text()}`);
}

/** A private key in each request: it is sealed, and opened for the repeat. */
const withKey = { cert_file: 'certificate', server_key: 'key' };
const withAnotherKey = { ...withKey, server_key: 'another key' };

async function repeatCreates(): Promise<void> {
  for (const key of ['first', 'first']) {
    const header = { 'idempotency-key': key };
    const computation = await call('POST', '/d1/computations', { name: 'Repeated', agent_config: withKey }, header);
    await call('PUT', path(String(computation.body['id'])), { name: 'Repeated', agent_config: withAnotherKey }, header);
    await call('POST', '/d1/assets', { asset: { file_name: 'repeated.csv', asset_type: 'dataset' } }, header);
  }
}

async function changeInputs(id: string, grow: () => Promise<void>): Promise<void> {
  await grow();
  for (const owner of ['bob', 'alice'])
    await done('PUT', path(id), { name: 'Renamed', owner, agent_config: withKey, log_access: 'parties' });
  await grow();
  await done('POST', `${path(id)}/key`, { key: publicKey() });
  const dataset = String((await done('POST', '/d1/assets', asset()))['id']);
  await grow();
  await done('POST', `/d1/assets/${dataset}/${id}`);
  await done('PUT', `/d1/assets/${dataset}`, asset({ asset: btoa('c,d') }));
  await grow();
  await done('PUT', `/d1/assets/${dataset}/${id}`);
  for (const asset_type of ['algorithm', 'dataset']) await done('PUT', `/d1/assets/${dataset}`, asset({ asset_type }));
  await done('POST', `/d1/assets/${dataset}/${id}`);
  await grow();
  await done('DELETE', `/d1/assets/${dataset}`);
}

/** Reports the row of a computation as the table's stream does, which this stack does not follow. */
async function followTable(id: string): Promise<void> {
  const { pk, sk } = computationKey('d1', id);
  await stack.invoke('maintenance/follow-table', { Records: [{ dynamodb: { Keys: { pk: { S: pk }, sk: { S: sk } } } }] });
}

async function approve(id: string, grow: () => Promise<void>): Promise<void> {
  await grow();
  const none = '0'.repeat(64);
  const approveNow = async () => {
    const { body } = await call('POST', `${path(id)}/approvals`, { digest: none, configuration_digest: none });
    const { manifest_digest: digest, configuration_digest } = body;
    await done('POST', `${path(id)}/approvals`, { digest, configuration_digest, cvm_ids: ['cvm-1'] });
  };
  await done('PUT', '/d1/cvms/cvm-1', { description: '' });
  await done('POST', `${path(id)}/approvals`, { decision: 'refuse', reason: 'Not yet.' });
  await approveNow();
  await done('GET', `${path(id)}/approvals`);
  await done('GET', '/d1/cvms/cvm-1/commands');
  const run = await accepted(id, 'cvm-1');
  await done('DELETE', `${path(id)}/key`); // also the approval, while a run that was started on it goes on
  await done('POST', `${path(id)}/key`, { key: publicKey() });
  await report('cvm-1', run, { type: 'event', event_type: 'Complete', status: 'Completed' });
  await untilOver(id);
  const { id: keyless } = await done('POST', '/d1/computations', { name: 'Waits for a key' });
  await followTable(String(keyless));
  await done('GET', '/d1/todo');
  await done('GET', `/d1/find?q=${id}`);
  await done('GET', `${path(id)}/logs?wait=1`);
  await approveNow();
  await grow();
  await done('DELETE', `${path(id)}/approvals`);
  await grow();
  await done('DELETE', `${path(id)}/key`);
  await done('POST', `${path(id)}/key`, { key: publicKey() });
  const viewer = callAs(stack.baseUrl, await stack.token('dora', ['d1:viewer']));
  await viewer('POST', `${path(id)}/key`, { key: publicKey() });
  await viewer('DELETE', `${path(id)}/key`);
}

async function stopRuns(id: string, grow: () => Promise<void>): Promise<void> {
  await accepted(id, 'cvm-6');
  const held = calls.hold('runs/stop-run', 'states:StartExecution');
  await grow();
  const answer = call('POST', `${path(id)}/stop`);
  await held.reached;
  await stack.invoke('lifecycle/sweep-runs', { grace_in_seconds: 0 });
  held.letGo();
  await answer;
  await vi.waitFor(async () => {
    const { commands } = await done('GET', '/d1/cvms/cvm-6/commands');
    expect(commands).toMatchObject([{ type: 'stop' }]);
  }, untilTestEnds);
  await functions.untilIdle();
  clock.move(stopInSeconds * 1_000);
  await untilOver(id); // no CVM has confirmed the stop in time

  const other = await accepted(id, 'cvm-7');
  const run = { domain: 'd1', computation_id: id, run_id: other, cvm_id: 'cvm-7' };
  await vi.waitUntil(async () => {
    await report('cvm-7', other, { type: 'heartbeat' });
    return calls.actionsOf('cvms/report').includes('states:SendTaskHeartbeat');
  }, untilTestEnds);
  const detail = { name: `stop-${other}`, status: 'ABORTED', input: JSON.stringify({ action: 'stop', ...run }) };
  await stack.invoke('lifecycle/execution-ended', { detail });
  await untilOver(id);
}

async function read(id: string): Promise<void> {
  const [first, , third] = [await readyComputation(call), await readyComputation(call), await readyComputation(call)];
  const dataset = String((await done('POST', '/d1/assets', asset()))['id']);
  await done('POST', `/d1/assets/${dataset}/${first}`);
  const run = (await latestRun(id)).id;
  const pages = ['/d1/computations', '/d1/assets', '/d1/computations/runs'].map((list) => `${list}?offset=1&limit=100`);
  const ofComputation = [
    '',
    '/key',
    '/events',
    '/events?event_type=started',
    '/status',
    '/manifest',
    `/manifest?run=${run}`,
    `/run?run=${run}`,
  ];
  const routesToRead = [
    ...[
      '/health',
      '/openapi.json',
      '/.well-known/jwks.json',
      '/d1/computations/statistics',
      `/d1/assets/${dataset}`,
      `/d1/assets/${dataset}/computations`,
    ],
    ...[...pages, ...ofComputation.map((rest) => path(id) + rest)],
  ];
  for (const route of routesToRead) await done('GET', route);
  await vi.waitFor(() => done('GET', `${path(id)}/evidence?run=${run}`), untilTestEnds); // its entries are in the log soon
  for (const route of ['/log/checkpoint', '/log/tile/0/999']) await fetch(stack.baseUrl + route);
  await readByOthers();
  await waitForNothing(id);
  await done('POST', `${path(third)}/dryrun`);

  const { upload } = await done('POST', '/d1/assets', asset({ asset: undefined }));
  await put(upload, 'a,b');
  await called('maintenance/receive-upload', 'dynamodb:UpdateItem');
  await done('DELETE', `/d1/assets/${dataset}`);
}

/** Uploads content by a presigned request. */
async function put(upload: unknown, body: string): Promise<void> {
  const { method, url, headers } = upload as { method: string; url: string; headers: Record<string, string> };
  await fetch(url, { method, headers, body });
}

async function waitForNothing(id: string): Promise<void> {
  const { events } = await done('GET', `${path(id)}/events?limit=1`);
  const [last] = events as { id: string }[];
  await Promise.all([
    done('GET', `${path(id)}/events?after=${last?.id ?? ''}&wait=1`),
    done('GET', '/d1/cvms/cvm-of-nobody/commands?wait=1'),
  ]);
}

/** Two reads: the first one creates the record of reads. */
async function readByOthers(): Promise<void> {
  const { id } = await done('POST', '/d1/assets', asset({ content_access: 'domain' }));
  const bob = callAs(stack.baseUrl, await stack.token('bob', ['d1:viewer']));
  for (const _ of ['first', 'second']) await bob('GET', `/d1/assets/${String(id)}`);
}

async function remove(id: string): Promise<void> {
  const held = calls.hold('computations/delete-computation', 'dynamodb:Query');
  const answer = call('DELETE', path(id));
  await held.reached;
  await stack.invoke('maintenance/purge', {});
  held.letGo();
  await answer;

  const replaced = String((await done('POST', '/d1/assets', asset()))['id']);
  await done('PUT', `/d1/assets/${replaced}`, asset({ asset: btoa('c,d') }));
  await functions.untilIdle();
  clock.move(3 * 3_600_000);
  await stack.invoke('maintenance/collect-content', {});
  await stack.invoke('maintenance/fold-lists', {});
}

beforeAll(async () => {
  stack = await startStack({
    port: 0,
    simulator: false,
    times: { stopInSeconds, silenceInSeconds: 2 * stopInSeconds },
    load: functions.load,
    clock,
    schedules: false,
  });
  call = callAs(stack.baseUrl, await stack.token('alice', ['d1:administrator', 'd1:cvm']));
  calls.listen();
  await liveThroughIt();
});

afterAll(async () => {
  await stack.stop();
});

describe('the declared uses of a function', () => {
  const usesOf = new Map<FunctionName, Uses>([...routes, ...tasks].map(({ name, uses }) => [name, uses]));
  const allowed = (name: FunctionName) => {
    const {
      table = [],
      content = [],
      log = [],
      logKey = [],
      stateMachine = [],
      signingKey = [],
      sealingKey = [],
      publishedKeys = [],
      purge = [],
    } = usesOf.get(name) ?? {};
    return [
      ...table.map(ofTable),
      ...[...content, ...log].map((action) => `s3:${action}`),
      ...stateMachine.map((action) => `states:${action}`),
      ...[...signingKey, ...logKey, ...sealingKey, ...publishedKeys].map((action) => `kms:${action}`),
      ...purge.map((action) => `lambda:${action}`),
    ];
  };

  it.each(functionNames)('include every action that %s calls', (name) => {
    expect(calls.actionsOf(name).filter((action) => !allowed(name).includes(action))).toEqual([]);
  });

  it.each(functionNames)('are all called by %s, except those of races, large lists and looks at logs', (name) => {
    const rare = [gapCheck, ...(notReached[name] ?? []), ...(calls.hasChangedLists(name) ? ofLooks : [])];
    expect(allowed(name).filter((action) => !calls.actionsOf(name).includes(action) && !rare.includes(action))).toEqual([]);
  });

  it('include those of looks at logs for every function that changes a list, and none that only folds need', () => {
    const folding = ['maintenance/purge', 'maintenance/follow-table'];
    const changing = functionNames.filter((name) => calls.hasChangedLists(name) && !folding.includes(name));
    expect(changing.length).toBeGreaterThan(10);
    expect(changing.filter((name) => !ofLooks.every((action) => allowed(name).includes(action)))).toEqual([]);
    const writingBatches = changing.filter((name) => allowed(name).includes(ofTable('BatchWriteItem')));
    expect(writingBatches).toEqual(['computations/delete-computation']); // the snapshots of its runs
  });
});
