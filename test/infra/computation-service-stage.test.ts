import { Template } from 'aws-cdk-lib/assertions';
import { vkeyOf } from 'computation-management-transparency-log';
import { AwsSolutionsChecks, ServerlessChecks } from 'cdk-nag';
import { beforeAll, describe, expect, it } from 'vitest';
import { ComputationServiceStage } from '../../infra/computation-service-stage.ts';
import { inApp, type Resource } from '../support/synthesized-stages.ts';
import { pipelineIn } from './platform-pipeline.ts';

type Resources = Record<string, Resource>;

interface Synthesized {
  /** The findings of cdk-nag, and the errors with which synth refuses a stage. */
  faults: string[];
  /** The warnings that synth prints, of which a reader could act on none. */
  warnings: string[];
  /** The resources of each stack by its name. */
  resources: Record<string, Resources>;
  text: string;
}

function synthesizedOf(stage: ComputationServiceStage): Synthesized {
  const packs = [new AwsSolutionsChecks(), new ServerlessChecks()];
  const findings = packs.flatMap((pack) => pack.validateScope(stage).violations.map(({ ruleName }) => ruleName));
  const annotated = (level: string) =>
    stage.node
      .findAll()
      .flatMap(({ node }) => node.metadata.filter(({ type }) => type === `aws:cdk:${level}`).map(({ data }) => String(data)));
  const resources = Object.fromEntries(
    stage.node.children.flatMap((child) =>
      'templateFile' in child
        ? [[child.node.id, (Template.fromStack(child as never).toJSON() as { Resources: Resources }).Resources]]
        : [],
    ),
  );
  return {
    faults: [...findings, ...annotated('error')],
    warnings: annotated('warning'),
    resources,
    text: JSON.stringify(resources),
  };
}

const ofType = (resources: Resources = {}, type: string) => Object.values(resources).filter(({ Type }) => Type === type);

describe('a stage with nothing but a name and a region', () => {
  let synthesized: Synthesized;
  beforeAll(() => {
    synthesized = inApp((app, built) =>
      synthesizedOf(new ComputationServiceStage(app, 'S', { name: 's', region: 'us-gov-west-1', built })),
    );
  });

  it('passes cdk-nag in GovCloud, and names no other partition', () => {
    expect(synthesized.faults).toEqual([]);
    expect(Object.keys(synthesized.resources)).toEqual(['State', 'Service', 'Operations']);
    expect(synthesized.text.match(/arn:aws:[^"]*/g) ?? []).toEqual([]);
    expect(synthesized.text).toContain('arn:aws-us-gov:states:::lambda:invoke');
  });

  it('keeps its data when its stack is deleted, but not when its first deployment fails', () => {
    const { State } = synthesized.resources;
    for (const type of ['AWS::DynamoDB::GlobalTable', 'AWS::S3::Bucket', 'AWS::KMS::Key', 'AWS::Cognito::UserPool'])
      for (const { DeletionPolicy } of ofType(State, type)) expect(DeletionPolicy).toBe('RetainExceptOnCreate');
  });
});

describe('a stage in China', () => {
  const region = 'cn-north-1';
  const issuer = { url: 'https://login.example.cn', audience: ['c'], membershipClaim: 'm' };

  it('passes cdk-nag with an issuer, and names no other partition', () => {
    const { faults, text } = inApp((app, built) =>
      synthesizedOf(new ComputationServiceStage(app, 'S', { name: 's', region, issuer, built })),
    );
    expect(faults).toEqual([]);
    expect(text.match(/arn:aws:[^"]*/g) ?? []).toEqual([]);
  });

  it.each([
    ['user pools of Cognito', { region }],
    ['CloudFront as the console uses it', { region, issuer, console: {} }],
    ['public registry of images', { region, issuer, gateway: { port: 7001, tasks: 2 } }],
    ['EventBridge Pipes', { region: 'us-gov-west-1', eventBus: true }],
    [
      'API destinations of EventBridge',
      {
        region: 'us-gov-west-1',
        alarmTargets: [{ webhook: { url: 'https://pages.example.com', header: 'authorization', secretName: 'pages' } }],
      },
    ],
    ['AWS Budgets', { region: 'us-gov-west-1', monthlyBudgetInDollars: 1 }],
  ])('is refused with a sentence if it needs %s', (what, row) => {
    const refused = () => inApp((app, built) => new ComputationServiceStage(app, 'S', { name: 's', ...row, built }));
    expect(refused).toThrow(`${row.region} has no ${what}, which the stage s needs: `);
  });
});

it('is refused with a witness of the log that it could never ask', () => {
  const vkey = vkeyOf('witness.example', new Uint8Array(32), 'cosignature');
  for (const witness of [
    { url: 'ftp://witness.example', vkey },
    { url: 'https://witness.example', vkey: vkeyOf('log.example', new Uint8Array(32)) },
  ]) {
    const row = { name: 's', region: 'eu-central-1', witnesses: [witness] };
    const refused = () => inApp((app, built) => new ComputationServiceStage(app, 'S', { ...row, built }));
    expect(refused).toThrow(`The stage s has no witness ${witness.url}.`);
  }
});

it('is refused without a region', () => {
  expect(() => inApp((app, built) => new ComputationServiceStage(app, 'S', { name: 's', built }))).toThrow(
    'The stage s names no region',
  );
});

describe('the sample, a pipeline with a custom qualifier', () => {
  let synthesized: Synthesized[];
  beforeAll(() => {
    synthesized = inApp(
      (app, built) => {
        const { stages } = pipelineIn(app, built);
        return stages.map(synthesizedOf);
      },
      { '@aws-cdk/core:bootstrapQualifier': 'acme42' },
    );
  });

  it('passes cdk-nag without a warning, with the assets of its own bootstrap', () => {
    expect(synthesized.map(({ faults }) => faults)).toEqual([[], []]);
    expect(synthesized.map(({ warnings }) => warnings)).toEqual([[], []]);
    for (const { text } of synthesized) expect(text).not.toContain('hnb659fds');
  });

  it('encrypts table and content with the key that it is given, which functions may use for nothing else', () => {
    const { State, Service } = synthesized[1]?.resources ?? {};
    const [table] = ofType(State, 'AWS::DynamoDB::GlobalTable');
    const key = 'arn:aws:kms:eu-central-1:333344445555:key/11111111-2222-4333-8444-555555555555';
    expect(table?.Properties).toMatchObject({ Replicas: [{ SSESpecification: { KMSMasterKeyId: key } }] });
    const encryptions = ofType(State, 'AWS::S3::Bucket').map(({ Properties }) => JSON.stringify(Properties['BucketEncryption']));
    expect(encryptions.filter((each) => each.includes(key))).toHaveLength(1);
    const watching = ofType(State, 'AWS::Events::Rule').filter(({ Properties }) => JSON.stringify(Properties).includes(key));
    expect(watching.map(({ Properties }) => Properties['Description'])).toEqual([
      'A key of the stage was disabled, or is to be deleted',
    ]);
    const roles = ofType(Service, 'AWS::IAM::Role').map((role) => JSON.stringify(role));
    const [health, start] = ['service/health', 'runs/start-run'].map((name) => roleOf(Service, name));
    expect(roles.filter((role) => role.includes(key)).length).toBeGreaterThan(30);
    expect(health).not.toContain(key);
    expect(start).toContain(key);
    const policies = ofType(State, 'AWS::IAM::Policy').map(({ Properties }) => JSON.stringify(Properties['PolicyDocument']));
    const ofSchemaCheck = policies.filter((policy) => policy.includes('dynamodb:UpdateItem'));
    expect(ofSchemaCheck).toEqual([expect.stringMatching(/kms:Decrypt.*11111111-2222-4333-8444-555555555555/)]);
  });

  it('copies table, content and log each day to the vault that it is given, with an alarm for a day without', () => {
    const { State, Operations } = synthesized[1]?.resources ?? {};
    const rule = {
      CopyActions: [
        {
          DestinationBackupVaultArn: 'arn:aws:backup:eu-west-1:444455556666:backup-vault:copies',
          Lifecycle: { DeleteAfterDays: 35 },
        },
      ],
    };
    expect(ofType(State, 'AWS::Backup::BackupPlan')).toMatchObject([{ Properties: { BackupPlan: { BackupPlanRule: [rule] } } }]);
    const [selection] = ofType(State, 'AWS::Backup::BackupSelection');
    const { Resources: copied } = selection?.Properties['BackupSelection'] as { Resources: unknown[] };
    expect(copied).toHaveLength(3);
    const vaults = ofType(State, 'AWS::Backup::BackupVault').map(({ Properties }) => Properties['BackupVaultName']);
    const alarm = ofType(Operations, 'AWS::CloudWatch::Alarm').find(
      ({ Properties }) => Properties['AlarmName'] === 'computations-acme-copies-silent',
    );
    expect(alarm?.Properties).toMatchObject({
      Namespace: 'AWS/Backup',
      MetricName: 'NumberOfCopyJobsCompleted',
      Dimensions: [{ Name: 'BackupVaultName', Value: vaults[0] }],
      ComparisonOperator: 'LessThanThreshold',
      Threshold: 3,
      TreatMissingData: 'breaching',
    });
  });

  it('puts the boundary on every role and the tags on every table, bucket and function', () => {
    const { resources = {} } = synthesized[1] ?? {};
    for (const stack of Object.values(resources)) {
      for (const { Properties } of ofType(stack, 'AWS::IAM::Role'))
        expect(Properties['PermissionsBoundary']).toBe('arn:aws:iam::333344445555:policy/boundary');
      for (const { Properties } of ofType(stack, 'AWS::Lambda::Function'))
        expect(Properties['Tags']).toContainEqual({ Key: 'cost-center', Value: '4711' });
    }
  });

  it('has records and a certificate in its hosted zone', () => {
    const { Service, Gateway } = synthesized[1]?.resources ?? {};
    expect(ofType(Service, 'AWS::CertificateManager::Certificate')).toMatchObject([
      { Properties: { DomainName: 'api.example.com', ValidationMethod: 'DNS' } },
    ]);
    const names = [Service, Gateway].flatMap((stack) =>
      ofType(stack, 'AWS::Route53::RecordSet').map(({ Properties }) => Properties['Name']),
    );
    expect(names).toEqual(['api.example.com.', 'cvms.example.com.']);
  });

  it('has its gateway in the VPC that exists, without public addresses', () => {
    const { Gateway } = synthesized[1]?.resources ?? {};
    expect(ofType(Gateway, 'AWS::EC2::VPC')).toEqual([]);
    expect(ofType(Gateway, 'AWS::ElasticLoadBalancingV2::LoadBalancer')).toMatchObject([
      { Properties: { Scheme: 'internal', Subnets: ['subnet-0123456789abcdef0', 'subnet-0123456789abcdef1'] } },
    ]);
    expect(ofType(Gateway, 'AWS::ECS::Service')).toMatchObject([
      {
        Properties: {
          NetworkConfiguration: {
            AwsvpcConfiguration: {
              AssignPublicIp: 'DISABLED',
              Subnets: ['subnet-0123456789abcdef0', 'subnet-0123456789abcdef1'],
            },
          },
        },
      },
    ]);
  });
});

/** Returns the role of a function as text. */
function roleOf(resources: Resources = {}, name: string): string {
  const found = Object.values(resources).find(
    ({ Type, Properties }) => Type === 'AWS::Lambda::Function' && Properties['Description'] === name,
  );
  const { 'Fn::GetAtt': [id] = [''] } = found?.Properties['Role'] as { 'Fn::GetAtt'?: string[] };
  return JSON.stringify(resources[id ?? '']);
}
