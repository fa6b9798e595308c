import { spawn, type ChildProcess } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KMSClient } from '@aws-sdk/client-kms';
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { bundleGateway } from '../../../infra/bundles.ts';
import { certificateFunctionFolder } from '../../../infra/gateway/gateway-task.ts';
import { issueCvmCertificate, kmsAuthority } from '../../../gateway/certificates/authority.ts';
import { ownPort } from '../../support/service-process.ts';
import { localCredentials } from '../../../local/machine/environment.ts';
import { serveExecutions } from '../../support/simulated-step-functions.ts';
import { startS3 } from '../../../local/s3/s3.ts';
import { startStack } from '../../../local/stack.ts';
import { startAnswering, startForwarding, type LocalRequest } from '../../support/answering-server.ts';
import { gatewayUses } from '../../../gateway/uses.ts';
import { tableActions } from '../../support/recorded-calls.ts';
import { isOfNewestDeployment } from '../../../shared/rows/gateway-lease.ts';
import { Deadline, systemClock, timestampOf } from '../../../shared/runtime/deadline.ts';
import { openTable } from '../../../shared/table/table.ts';
import { untilTestEnds } from '../../support/patience.ts';
import { serveKms } from '../../support/answering-aws.ts';
import { SimulatedAgent } from '../../support/simulated-agent.ts';
import { fullStage, synthesizeWith } from '../../support/synthesized-stages.ts';
import { callAs, readyComputation, type Call } from '../../support/ready-computation.ts';
import { repeating } from '../../support/repeating-call.ts';

interface Container {
  Command: string[];
  Environment: { Name: string; Value: unknown }[];
  Secrets: { Name: string }[];
}

interface File {
  name: string;
  key: string;
  sha256: string;
}

const folder = mkdtempSync(join(tmpdir(), 'gateway-bundle-'));
const region = 'local';
const stops: (() => Promise<unknown>)[] = [];
let container: Container;
let files: File[];
let call: Call;
let ports: { agents: number; health: number };
let given: Record<string, string>;
let askedOfEcs: LocalRequest[] = [];
let askedOfBalancer: LocalRequest[] = [];
/** The requests that gateways have sent, by the prefix of the called service in IAM. */
const called: Record<string, LocalRequest[]> = {};

/** The container of the gateway's tasks, as the template of a stage describes it. */
function containerIn(gatewayFolder: string): Container {
  const { stacks } = synthesizeWith({ gatewayFolder }, fullStage);
  const definitions = stacks.gateway?.ofType<{ ContainerDefinitions: [Container] }>('AWS::ECS::TaskDefinition') ?? {};
  const [definition] = Object.values(definitions);
  if (!definition) throw new Error('The stage has no task of a gateway.');
  return definition.ContainerDefinitions[0];
}

/** Starts the command of the container with the variables of the container, with this machine's places in them. */
function startContainer(more: Record<string, string> = {}): { child: ChildProcess; output: () => string } {
  const values = Object.fromEntries(container.Environment.map(({ Name, Value }) => [Name, String(Value)]));
  const [, ...args] = container.Command;
  const child = spawn(process.execPath, args, { env: { ...values, ...given, ...more }, stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (text += String(chunk)));
  stops.push(() => Promise.resolve(child.kill('SIGKILL')));
  return { child, output: () => text };
}

/** Calls the bundled function that CloudFormation calls. @returns the secret that it wrote, and its answer to CloudFormation */
async function issueCertificate(): Promise<{ secret: string; answer: LocalRequest | undefined }> {
  const secrets = await startAnswering(() => ({ VersionId: 'version-1' }));
  const cloudFormation = await startAnswering(() => ({}));
  stops.push(secrets.stop, cloudFormation.stop);
  Object.assign(process.env, {
    AWS_ENDPOINT_URL_SECRETS_MANAGER: secrets.endpoint,
    AUTHORITY_KEY_ARN: process.env['SIGNING_KEY_ARN'],
    TLS_SECRET_ARN: 'tls',
    GATEWAY_HOSTS: 'localhost,127.0.0.1',
  });
  const path = join(folder, certificateFunctionFolder, 'index.mjs');
  const { handler } = (await import(/* @vite-ignore */ path)) as { handler: (event: object) => Promise<unknown> };
  await handler({
    RequestType: 'Create',
    ResponseURL: `${cloudFormation.endpoint}/answer`,
    StackId: 'stack',
    RequestId: 'request',
    LogicalResourceId: 'Issued',
  });
  const { SecretString } = JSON.parse(secrets.requests[0]?.body ?? '{}') as { SecretString: string };
  return { secret: SecretString, answer: cloudFormation.requests[0] };
}

/** Takes every step as soon as it can. */
const throughout = (agent: SimulatedAgent) => {
  setTimeout(() => {
    agent.upload();
    agent.finish();
    agent.fetch();
  }, 20);
};

/** A CVM with a certificate of the stage's authority, registered. */
async function enrolledCvm(cvmId: string) {
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const authority = await kmsAuthority(new KMSClient(), String(process.env['SIGNING_KEY_ARN']), String(process.env['STAGE']));
  const publicKey = keys.publicKey.export({ format: 'pem', type: 'spki' }).toString();
  const certificate = await issueCvmCertificate(authority, { domain: 'd1', cvmId }, publicKey);
  expect((await call('PUT', `/d1/cvms/${cvmId}`, { description: '', certificate })).status).toBeLessThan(300);
  const key = keys.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
  return { cvmId, certificate, key, ca: authority.certificate };
}

/** Returns an endpoint in front of an engine that records what gateways call. */
async function recorded(service: string, variable: string): Promise<string> {
  const { endpoint, requests, stop } = await startForwarding(String(process.env[variable]));
  stops.push(stop);
  called[service] = requests;
  return endpoint;
}

/** The actions that gateways have called, as IAM names them. */
function actionsCalled(): Set<string> {
  const actions = Object.entries(called).flatMap(([service, requests]) =>
    requests.flatMap(({ headers, body }) => {
      const operation = String(headers['x-amz-target']).split('.').at(-1) ?? '';
      return service === 'dynamodb' ? tableActions(operation, JSON.parse(body) as object) : [`${service}:${operation}`];
    }),
  );
  return new Set(actions);
}

beforeAll(async () => {
  await bundleGateway(folder);
  container = containerIn(folder);
  const stack = await startStack({ port: 0, simulator: false, intercept: serveExecutions });
  stops.push(() => stack.stop());
  call = repeating(callAs(stack.baseUrl, await stack.token('alice', ['d1:administrator'])));

  const kms = await serveKms();
  stops.push(kms.stop);
  process.env['AWS_ENDPOINT_URL_KMS'] = kms.endpoint;

  const bucket = 'assets';
  const storage = await startS3({ bucket, notifiedPrefix: 'none', onObjectCreated: () => undefined });
  stops.push(() => storage.stop());
  const client = new S3Client({ endpoint: storage.endpoint, region, credentials: localCredentials, forcePathStyle: true });
  files = JSON.parse(String(container.Environment.find(({ Name }) => Name === 'BUNDLE_FILES')?.Value)) as File[];
  for (const { name, key } of files) {
    await client.send(new PutObjectCommand({ Bucket: bucket, Key: key, Body: readFileSync(join(folder, name)) }));
  }
  client.destroy();
  const { accessKeyId: AccessKeyId, secretAccessKey: SecretAccessKey } = localCredentials;
  const Expiration = new Date(Date.now() + 3_600_000).toISOString();
  const credentials = await startAnswering(() => ({ AccessKeyId, SecretAccessKey, Token: 'session', Expiration }));
  stops.push(credentials.stop);
  const CreatedAt = new Date(Date.now() - 3_600_000).toISOString().replace('Z', '202617Z'); // of an hour ago, in nanoseconds
  const Containers = [{ CreatedAt, Networks: [{ IPv4Addresses: ['10.0.0.9'] }] }];
  const ecs = await startAnswering(() => ({ Revision: '7', Containers, protection: { ProtectionEnabled: true } }));
  stops.push(ecs.stop);
  askedOfEcs = ecs.requests;
  const balancer = await startAnswering(() => ({}));
  stops.push(balancer.stop);
  askedOfBalancer = balancer.requests;
  ports = { agents: await ownPort(), health: await ownPort() };
  given = {
    AWS_REGION: region,
    AWS_CONTAINER_CREDENTIALS_FULL_URI: `${credentials.endpoint}/credentials`,
    AWS_ENDPOINT_URL_DYNAMODB: await recorded('dynamodb', 'AWS_ENDPOINT_URL_DYNAMODB'),
    AWS_ENDPOINT_URL_SFN: await recorded('states', 'AWS_ENDPOINT_URL_SFN'),
    AWS_ENDPOINT_URL_KMS: await recorded('kms', 'AWS_ENDPOINT_URL_KMS'),
    SEALING_KEY_ARN: String(process.env['SEALING_KEY_ARN']),
    TABLE_NAME: String(process.env['TABLE_NAME']),
    STATE_MACHINE_ARN: String(process.env['STATE_MACHINE_ARN']),
    BUNDLE_URL: `${storage.endpoint}/${bucket}`,
    ECS_CONTAINER_METADATA_URI_V4: `${ecs.endpoint}/v4`,
    ECS_AGENT_URI: `${ecs.endpoint}/api`,
    BALANCER_URL: `${balancer.endpoint}/`,
    TARGET_GROUP_ARN: 'arn:aws:elasticloadbalancing:local:1:targetgroup/gateway/1',
    GATEWAY_PORT: String(ports.agents),
    GATEWAY_HEALTH_PORT: String(ports.health),
  };
});
afterAll(async () => {
  for (const stop of stops.reverse()) await stop();
  rmSync(folder, { recursive: true });
});

describe('the container of the gateway', () => {
  it('fetches its bundle, serves an agent by a certificate of the deployment, and ends in order on SIGTERM', async () => {
    const { secret, answer } = await issueCertificate();
    expect(answer).toMatchObject({ method: 'PUT', path: '/answer' });
    expect(JSON.parse(answer?.body ?? '')).toEqual({
      Status: 'SUCCESS',
      Data: { Version: 'version-1' },
      StackId: 'stack',
      RequestId: 'request',
      LogicalResourceId: 'Issued',
      PhysicalResourceId: 'gateway-certificate',
    });
    expect(container.Secrets.map(({ Name }) => Name)).toEqual(['GATEWAY_TLS']);
    const { child, output } = startContainer({ GATEWAY_TLS: secret });
    await vi.waitFor(async () => {
      expect(output()).toContain('The gateway listens.');
      expect((await fetch(`http://127.0.0.1:${ports.health}/`)).status).toBe(200);
    }, untilTestEnds);

    const cvm = await enrolledCvm('vm-1');
    const agent = new SimulatedAgent({ ...cvm, address: `localhost:${ports.agents}`, onState: throughout });
    await vi.waitFor(async () => {
      expect((await call('GET', '/d1/cvms/vm-1')).body['presence']).toMatchObject({ state: 'connected', fit: 'ready' });
    }, untilTestEnds);
    const computation = await readyComputation(call);
    const agent_config = { cert_file: 'certificate', server_key: 'a private key, which the gateway unseals' };
    expect((await call('PUT', `/d1/computations/${computation}`, { name: 'Iris', agent_config })).status).toBe(200);
    expect((await call('POST', `/d1/computations/${computation}/run?cvm=vm-1`)).status).toBe(200);
    await vi.waitFor(async () => {
      expect((await call('GET', `/d1/computations/${computation}/run`)).body).toMatchObject({ status: 'completed' });
    }, untilTestEnds);
    expect(agent.requests).toHaveLength(1);
    const protections = () =>
      askedOfEcs
        .filter(({ method, path }) => method === 'PUT' && path === '/api/task-protection/v1/state')
        .map(({ body }) => (JSON.parse(body) as { ProtectionEnabled: boolean }).ProtectionEnabled);
    await expect.poll(protections, untilTestEnds).toEqual([true, false]); // from the attestation until the agent is spent

    expect(askedOfBalancer).toEqual([]);
    const table = openTable(() => new Deadline());
    await isOfNewestDeployment(table, { deployment: 8, startedAt: timestampOf(systemClock) }, timestampOf(systemClock));
    await expect.poll(() => askedOfBalancer, untilTestEnds).toHaveLength(1);
    expect(Object.fromEntries(new URLSearchParams(askedOfBalancer[0]?.body))).toEqual({
      Action: 'DeregisterTargets',
      Version: '2015-12-01',
      TargetGroupArn: given['TARGET_GROUP_ARN'],
      'Targets.member.1.Id': '10.0.0.9',
      'Targets.member.1.Port': String(ports.agents),
    });
    expect(askedOfBalancer[0]?.headers['authorization']).toContain('/local/elasticloadbalancing/aws4_request');

    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    expect(await exited).toEqual([0, null]);
    expect(output()).toContain('The gateway has stopped.');
    agent.end();
  });

  it('calls only the actions that its role allows', () => {
    const declared = [
      ...gatewayUses.table.map((action) => `dynamodb:${action}`),
      ...gatewayUses.stateMachine.map((action) => `states:${action}`),
      ...gatewayUses.sealingKey.map((action) => `kms:${action}`),
    ];
    const actions = actionsCalled();
    expect([...actions].filter((action) => !declared.includes(action))).toEqual([]);
    actions.add('states:SendTaskHeartbeat'); // sent every 15 seconds, and this run may be shorter
    expect(declared.filter((action) => !actions.has(action))).toEqual([]);
  });

  it('ends without running a file that differs from the one of the deployment', async () => {
    const [first, ...others] = files;
    const changed = JSON.stringify([{ ...first, sha256: '0'.repeat(64) }, ...others]);
    const { child, output } = startContainer({ BUNDLE_FILES: changed, GATEWAY_TLS: '{}' });
    expect(await once(child, 'exit')).toEqual([1, null]);
    expect(output()).toContain('index.mjs is not the file of this deployment.');
  });
});
