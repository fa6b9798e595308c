import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bundleGateway } from '../../../infra/bundles.ts';
import { taskSettings } from '../../../infra/gateway/gateway-task.ts';
import { defaultTimings } from '../../../gateway/session/gateway-parts.ts';
import { gatewayUses } from '../../../gateway/uses.ts';
import { addGatewayAlarms } from '../../../infra/operations/part-alarms.ts';
import { nameIn, type GatewayRow, type Stage } from '../../../infra/stages/stage.ts';
import {
  errorsOf,
  flat,
  fullStage,
  ownStage,
  synthesize,
  type SynthesizedStack,
  type SynthesizedStage,
} from '../../support/synthesized-stages.ts';
import { variablesRead } from '../../support/variables-read.ts';

interface Statement {
  Action: string | string[];
  Resource: unknown;
  Principal?: unknown;
}

interface Container {
  Image: string;
  User: string;
  Command: string[];
  StopTimeout: number;
  Environment: { Name: string; Value: unknown }[];
  Secrets: { Name: string; ValueFrom: unknown }[];
  LogConfiguration: { Options: Record<string, unknown> };
}

interface Task {
  Cpu: string;
  Memory: string;
  RuntimePlatform: object;
  TaskRoleArn: unknown;
  ExecutionRoleArn: unknown;
  ContainerDefinitions: Container[];
}

interface Rule {
  IpProtocol: string;
  FromPort: number;
  ToPort: number;
  CidrIp?: string;
  SourceSecurityGroupId?: unknown;
  DestinationSecurityGroupId?: unknown;
}

const row: GatewayRow = { port: 7001, tasks: 3 };
const withGateway = [fullStage, { ...ownStage, gateway: row }];

function gatewayOf({ stacks }: SynthesizedStage): SynthesizedStack {
  if (!stacks.gateway) throw new Error('The stage has no gateway.');
  return stacks.gateway;
}

// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- the caller knows the properties of the type
const only = <P>(stack: SynthesizedStack, type: string): P => {
  const [found, ...others] = Object.values(stack.ofType<P>(type));
  expect(others).toEqual([]);
  if (found === undefined) throw new Error(`The template has no ${type}.`);
  return found;
};

const listed = (actions: string | string[]) => [actions].flat();

let bundled: Promise<string[]> | undefined;
/** Bundles the gateway once, and returns the variables that it reads. */
const variables = () => (bundled ??= bundledVariables());

async function bundledVariables(): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-'));
  await bundleGateway(folder);
  expect(readFileSync(join(folder, 'start.mjs'), 'utf8')).not.toContain('${'); // CloudFormation takes the command as it is
  const read = variablesRead(join(folder, 'index.mjs'));
  rmSync(folder, { recursive: true });
  return read;
}

describe.each(synthesize(withGateway))('the gateway of $stage.name', (synthesized) => {
  const { stage, stacks } = synthesized;
  const stack = gatewayOf(synthesized);
  const gateway = stage.gateway ?? row;
  const task = only<Task>(stack, 'AWS::ECS::TaskDefinition');
  const [container] = task.ContainerDefinitions;
  if (!container) throw new Error('The task has no container.');
  const statementsOf = (role: unknown) => {
    const id = flat(role).slice(1).split('.')[0] ?? '';
    const roles = stack.ofType<{ Policies?: { PolicyDocument: { Statement: Statement[] } }[]; ManagedPolicyArns?: unknown[] }>(
      'AWS::IAM::Role',
    );
    expect(roles[id]?.ManagedPolicyArns ?? []).toEqual([]);
    return (roles[id]?.Policies ?? []).flatMap(({ PolicyDocument }) => PolicyDocument.Statement);
  };

  it('is a service on Fargate of a quarter of an ARM processor and 1 GiB, which keeps all tasks while it replaces them', () => {
    expect(task).toMatchObject({
      Cpu: '256',
      Memory: '1024',
      RuntimePlatform: { CpuArchitecture: 'ARM64', OperatingSystemFamily: 'LINUX' },
    });
    expect(only(stack, 'AWS::ECS::Service')).toMatchObject({
      LaunchType: 'FARGATE',
      DeploymentConfiguration: {
        MinimumHealthyPercent: 100,
        MaximumPercent: 400,
        DeploymentCircuitBreaker: { Enable: true, Rollback: true },
      },
      AvailabilityZoneRebalancing: 'DISABLED',
      EnableExecuteCommand: false,
    });
  });

  it('is deployed by a call that does not wait until replaced tasks have drained, from a function that may do nothing else', () => {
    const service = Object.values(stack.resources).find(({ Type }) => Type === 'AWS::ECS::Service');
    expect(service?.Properties['TaskDefinition']).toBe(nameIn(stage, 'gateway')); // so that CloudFormation never updates the service
    expect(service?.Properties).not.toHaveProperty('DesiredCount');
    const [id = '', definition] =
      Object.entries(stack.resources).find(([, { Type }]) => Type === 'AWS::ECS::TaskDefinition') ?? [];
    expect(service?.DependsOn).toContain(id);
    expect(definition?.DeletionPolicy).toBe('Retain');
    const { Create, Update, ServiceToken } = only<Record<'Create' | 'Update' | 'ServiceToken', unknown>>(stack, 'Custom::AWS');
    expect(Update).toEqual(Create);
    const parameters = { taskDefinition: `<${id}>`, desiredCount: gateway.tasks };
    expect(JSON.parse(flat(Create))).toMatchObject({ service: 'ECS', action: 'UpdateService', parameters });
    const functions = stack.ofType<{ Role: unknown; Runtime: string }>('AWS::Lambda::Function');
    const deploying = functions[flat(ServiceToken).slice(1).split('.')[0] ?? ''];
    expect(deploying?.Runtime).toBe('nodejs24.x');
    expect(statementsOf(deploying?.Role).flatMap(({ Action }) => listed(Action))).toEqual([
      'ecs:UpdateService',
      'logs:CreateLogStream',
      'logs:PutLogEvents',
    ]);
    expect(flat(statementsOf(deploying?.Role)[0]?.Resource)).toMatch(/^<\w+>$/);
  });

  it('runs a public image of one exact version as a user without rights, and has longer to stop than it drains', () => {
    expect(container.Image).toMatch(/^public\.ecr\.aws\/docker\/library\/node:24\.\d+\.\d+-slim$/);
    expect(container.User).toBe('node');
    expect(container.StopTimeout).toBeGreaterThan(defaultTimings.drain / 1_000 + 5);
  });

  it('may do what the gateway declares, read its own files, and nothing else', () => {
    const statements = statementsOf(task.TaskRoleArn);
    const actions = statements.flatMap(({ Action }) => listed(Action));
    expect(actions.sort()).toEqual(
      [
        ...gatewayUses.table.map((action) => `dynamodb:${action}`),
        ...gatewayUses.stateMachine.map((action) => `states:${action}`),
        ...gatewayUses.sealingKey.map((action) => `kms:${action}`),
        's3:GetObject',
        's3:PutObject',
        'ecs:UpdateTaskProtection',
        'elasticloadbalancing:DeregisterTargets',
      ].sort(),
    );
    const resources = statements.flatMap(({ Resource }) => [Resource].flat()).map(flat);
    expect(resources.filter((resource) => resource.includes('*'))).toEqual([
      expect.stringMatching(/\/content\/attestation\/\*$/),
      expect.stringMatching(new RegExp(`^arn:.*:task/${nameIn(stage, 'gateway')}/\\*$`)),
    ]);
    expect(resources.filter((resource) => resource.includes('cdk-')).every((resource) => /\.(mjs|proto)$/.test(resource))).toBe(
      true,
    );
  });

  it('is started by a role that may only write its log and read its secret', () => {
    const statements = statementsOf(task.ExecutionRoleArn);
    expect(statements.flatMap(({ Action }) => listed(Action)).sort()).toEqual([
      'logs:CreateLogStream',
      'logs:PutLogEvents',
      'secretsmanager:GetSecretValue',
    ]);
    expect(statements.filter(({ Resource }) => Resource === '*')).toEqual([]);
  });

  it('gets its certificates from a secret, and has no key or password among its variables', () => {
    expect(container.Secrets).toEqual([{ Name: 'GATEWAY_TLS', ValueFrom: expect.anything() }]);
    const [secret] = Object.keys(stack.ofType('AWS::SecretsManager::Secret'));
    expect(flat(container.Secrets[0]?.ValueFrom)).toBe(`<${secret}>`);
    expect(container.Environment.map(({ Name }) => Name).filter((name) => /(KEY|SECRET|TOKEN|PASSWORD|TLS)/.test(name))).toEqual([
      'SEALING_KEY_ARN',
    ]);
  });

  it('has the variables that its bundle reads, and no others of the service', async () => {
    const read = (await variables()).filter((name) => name !== 'GATEWAY_TLS' && !name.startsWith('ECS_'));
    const replacing = ['CERTIFICATE_VERSION', 'TASKS'];
    const ofTheStart = ['AWS_REGION', 'BUNDLE_FILES', 'BUNDLE_URL', ...replacing, ...Object.keys(taskSettings)];
    expect(container.Environment.map(({ Name }) => Name).sort()).toEqual([...read, ...ofTheStart].sort());
  });

  it('starts the files that it fetches, in a container that has Node alone', () => {
    expect(container.Command.slice(0, 3)).toEqual(['node', '--input-type=module', '--eval']);
  });

  it('never waits for CloudWatch, and keeps its logs for the retention of the stage', () => {
    expect(container.LogConfiguration.Options).toMatchObject({ mode: 'non-blocking' });
    const logs = Object.values(stack.ofType<{ RetentionInDays: number }>('AWS::Logs::LogGroup'));
    expect(logs).toHaveLength(3);
    expect(new Set(logs.map(({ RetentionInDays }) => RetentionInDays))).toEqual(new Set([stage.logRetention]));
  });

  it('is reached through a load balancer that passes TCP on, checks it over HTTP, and takes a task out before it stops', () => {
    expect(only(stack, 'AWS::ElasticLoadBalancingV2::LoadBalancer')).toMatchObject({
      Type: 'network',
      Scheme: 'internet-facing',
      LoadBalancerAttributes: expect.arrayContaining([{ Key: 'load_balancing.cross_zone.enabled', Value: 'true' }]),
    });
    const [balancer] = Object.values(stack.resources).filter(({ Type }) => Type.endsWith('::LoadBalancer'));
    expect(balancer?.DeletionPolicy).toBe(stage.deletionProtection ? 'RetainExceptOnCreate' : undefined);
    expect(only(stack, 'AWS::ElasticLoadBalancingV2::Listener')).toMatchObject({ Port: gateway.port, Protocol: 'TCP' });
    expect(only(stack, 'AWS::ElasticLoadBalancingV2::TargetGroup')).toMatchObject({
      Protocol: 'TCP',
      TargetType: 'ip',
      HealthCheckProtocol: 'HTTP',
      HealthCheckPort: '8080',
      HealthCheckIntervalSeconds: 15,
      HealthCheckTimeoutSeconds: 15,
      UnhealthyThresholdCount: 10,
      TargetGroupAttributes: expect.arrayContaining([
        { Key: 'deregistration_delay.timeout_seconds', Value: '10' },
        { Key: 'deregistration_delay.connection_termination.enabled', Value: 'false' },
        { Key: 'preserve_client_ip.enabled', Value: 'true' },
      ]),
    });
  });

  it('needs no NAT, lets only the load balancer reach tasks, and lets them call out by HTTPS alone', () => {
    expect(stack.ofType('AWS::EC2::NatGateway')).toEqual({});
    const groups = stack.ofType<{ SecurityGroupIngress?: Rule[]; SecurityGroupEgress?: Rule[]; GroupDescription: string }>(
      'AWS::EC2::SecurityGroup',
    );
    const group = (description: string) => Object.values(groups).find(({ GroupDescription }) => GroupDescription === description);
    const inbound = group('The load balancer of the gateway')?.SecurityGroupIngress ?? [];
    expect(inbound.map(({ CidrIp, FromPort, ToPort }) => [CidrIp, FromPort, ToPort])).toEqual(
      (gateway.networks ?? ['0.0.0.0/0']).map((network) => [network, gateway.port, gateway.port]),
    );
    const ofTasks = group('The tasks of the gateway');
    expect(ofTasks?.SecurityGroupIngress).toBeUndefined();
    expect(ofTasks?.SecurityGroupEgress?.map(({ FromPort, ToPort }) => [FromPort, ToPort])).toEqual([[443, 443]]);
    const toTasks = Object.values(stack.ofType<Rule>('AWS::EC2::SecurityGroupIngress'));
    expect(toTasks.map(({ FromPort }) => FromPort).sort()).toEqual([gateway.port, 8080].sort());
    expect(toTasks.every(({ SourceSecurityGroupId }) => SourceSecurityGroupId !== undefined)).toBe(true);
  });

  it('reaches only its table and its files through the endpoints of the network', () => {
    const endpoints = Object.values(stack.ofType<{ PolicyDocument: { Statement: Statement[] } }>('AWS::EC2::VPCEndpoint'));
    const statements = endpoints.flatMap(({ PolicyDocument }) => PolicyDocument.Statement);
    expect(endpoints).toHaveLength(2);
    expect(statements.flatMap(({ Action }) => listed(Action)).sort()).toEqual(
      [...gatewayUses.table.map((action) => `dynamodb:${action}`), 's3:GetObject', 's3:PutObject'].sort(),
    );
    expect(statements.map(({ Resource }) => Resource)).not.toContain('*');
  });

  it('gets its certificate from a function that alone may sign with the key of the authority', () => {
    const functions = Object.values(
      stack.ofType<{ Role: unknown; Environment?: { Variables: Record<string, unknown> } }>('AWS::Lambda::Function'),
    );
    const issuer = functions.find(({ Environment }) => Environment);
    if (!issuer?.Environment) throw new Error('The template has no function that issues certificates.');
    const actions = statementsOf(issuer.Role).flatMap(({ Action }) => listed(Action));
    expect(actions.filter((action) => !/^(logs|xray):/.test(action)).sort()).toEqual([
      'kms:GetPublicKey',
      'kms:Sign',
      'secretsmanager:PutSecretValue',
    ]);
    const hosts = flat(issuer.Environment.Variables['GATEWAY_HOSTS']).split(',');
    expect(hosts).toHaveLength(gateway.hostName === undefined ? 1 : 2);
    if (gateway.hostName) expect(hosts[0]).toBe(gateway.hostName);
    const roles = Object.keys(stack.ofType('AWS::IAM::Role')).map((id) => ({ 'Fn::GetAtt': [id, 'Arn'] }));
    const signing = roles.filter((role) => flat(statementsOf(role).flatMap(({ Action }) => listed(Action))).includes('kms:Sign'));
    expect(signing).toHaveLength(1);
  });

  it('keeps the key of the authority with the state of the stage', () => {
    const alias = only<{ AliasName: string; TargetKeyId: unknown }>(stacks.state, 'AWS::KMS::Alias');
    expect(alias.AliasName).toBe(`alias/${nameIn(stage, 'cvm-authority')}`);
  });

  it('outputs what enrolment asks for', () => {
    expect(stack.outputs).toEqual(expect.arrayContaining(['ApiUrl', 'GatewayAddress', 'GatewayTarget']));
    expect(stack.terminationProtection).toBe(stage.terminationProtection);
  });

  it('has alarms, which a stage without a gateway does not have, and graphs', () => {
    const alarms = Object.values(stacks.operations.ofType<{ AlarmName: string }>('AWS::CloudWatch::Alarm'));
    const watched = { stage, apiId: '', stateMachineArn: '', tableName: '', reservedExecutions: 0 };
    const names: string[] = [];
    const add = (name: string) => void names.push(nameIn(stage, name));
    addGatewayAlarms({ page: add, ticket: add }, watched, gateway);
    expect(names.length).toBeGreaterThan(8);
    expect(alarms.map(({ AlarmName }) => AlarmName)).toEqual(expect.arrayContaining(names));
    const { DashboardBody } = only<{ DashboardBody: unknown }>(stacks.operations, 'AWS::CloudWatch::Dashboard');
    expect(flat(DashboardBody)).toContain(`/aws/ecs/${nameIn(stage, 'gateway')}`);
  });
});

describe('a stage without a gateway', () => {
  const [{ stacks } = { stacks: undefined }] = synthesize([ownStage]);

  it('has no stack, key, alarm or graph for it', () => {
    expect(stacks?.gateway).toBeUndefined();
    expect(stacks?.state.ofType('AWS::KMS::Alias')).toEqual({});
    expect(JSON.stringify(stacks?.operations.resources)).not.toContain('gateway');
  });
});

describe('the row of a gateway', () => {
  it.each([
    [{ port: 7001, tasks: 1 }, 'has 1 tasks'],
    [{ port: 8080, tasks: 2 }, 'cannot use port 8080'],
    [{ port: 7001, tasks: 2, drainHours: 49 }, 'drainHours of 49, expected 1 to 48'],
  ])('%j fails at synth', (gateway, reason) => {
    expect(errorsOf({ ...fullStage, gateway })).toEqual([expect.stringContaining(reason)]);
  });

  it('with an image of ECR runs that, which the execution role alone may pull, also through the endpoint of S3', () => {
    const image = `111122223333.dkr.ecr.eu-central-1.amazonaws.com/mirror/node@sha256:${'4f'.repeat(32)}`;
    const stage: Stage = { ...fullStage, gateway: { port: 7001, tasks: 2, image } };
    const [{ stacks } = { stacks: undefined }] = synthesize([stage]);
    const { resources = {}, ofType } = stacks?.gateway ?? {};
    const definitions = ofType?.<{ ContainerDefinitions: [Container] }>('AWS::ECS::TaskDefinition') ?? {};
    expect(Object.values(definitions).map(({ ContainerDefinitions: [{ Image }] }) => Image)).toEqual([image]);
    const pulling = Object.entries(resources).filter(([, resource]) => JSON.stringify(resource).includes('ecr:BatchGetImage'));
    expect(pulling.map(([id]) => id)).toEqual([expect.stringMatching(/ExecutionRole/)]);
    expect(JSON.stringify(pulling)).toContain(':ecr:eu-central-1:111122223333:repository/mirror/node');
    expect(JSON.stringify(ofType?.('AWS::EC2::VPCEndpoint'))).toContain(':s3:::prod-eu-central-1-starport-layer-bucket/*');
  });
});
