import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Stage } from '../../infra/stages/stage.ts';
import { findingsFor } from '../../tools/preflight/preflight.ts';
import { startAnswering } from '../support/answering-server.ts';
import { fullStage, ownStage } from '../support/synthesized-stages.ts';

/** The answers that the account of a test has, by the target of a request or its path. A text is XML. */
type Account = Record<string, object | string>;

const ready: Account = {
  'AmazonSSM.GetParameter': { Parameter: { Value: '28' } },
  '/2016-08-19/account-settings': { AccountLimit: { ConcurrentExecutions: 6_000, UnreservedConcurrentExecutions: 6_000 } },
  '/v2/email/account': { ProductionAccessEnabled: true, SendingEnabled: true },
  ' /account-settings': {
    ResourceTypeManagementPreference: { DynamoDB: true },
    ResourceTypeOptInPreference: { DynamoDB: true, S3: true },
  },
  'TrentService.DescribeKey': { KeyMetadata: { KeyState: 'Enabled', KeySpec: 'SYMMETRIC_DEFAULT' } },
  '/2013-04-01/hostedzone/Z1': '<HostedZone><Name>example.com.</Name><PrivateZone>false</PrivateZone></HostedZone>',
  '/?Action=DescribeSubnets':
    '<subnetSet><item><subnetId>subnet-1</subnetId></item><item><subnetId>subnet-2</subnetId></item></subnetSet>',
  '/account': { throttleSettings: { rateLimit: 10_000, burstLimit: 5_000 } },
  'CloudTrail_20131101.DescribeTrails': { trailList: [{ Name: 'organisation' }] },
  '/?Action=GetCallerIdentity': '<Account>111122223333</Account>',
  'AWSBudgetServiceGateway.DescribeBudgets': { Budgets: [] },
  'CertificateManager.DescribeCertificate': {
    Certificate: { Status: 'ISSUED', DomainName: 'api.example.com', Type: 'AMAZON_ISSUED' },
  },
  'secretsmanager.DescribeSecret': {},
  '/v2/email/identities/example.com': { VerifiedForSendingStatus: true },
  '/2020-05-31/distribution': '<DistributionList><Quantity>3</Quantity></DistributionList>',
  stacks: '<DescribeStacksResponse><DescribeStacksResult><Stacks></Stacks></DescribeStacksResult></DescribeStacksResponse>',
};
let account: Account = ready;
let aws: Awaited<ReturnType<typeof startAnswering>>;

beforeAll(async () => {
  aws = await startAnswering(({ path, headers, body }) => {
    if (body.includes('DescribeStacks')) return account['stacks'] ?? {};
    const asked = `${String(headers['x-amz-target'] ?? '')} ${path}`;
    return Object.entries(account).find(([name]) => asked.includes(name))?.[1] ?? {};
  });
  Object.assign(process.env, { AWS_ENDPOINT_URL: aws.endpoint, AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b' });
});
afterAll(() => aws.stop());

const { issuer: _, ...others } = fullStage;
const withoutIssuer: Stage = {
  ...others,
  dataKeyArn: 'arn:aws:kms:eu-central-1:111122223333:key/1',
  hostedZone: { id: 'Z1', name: 'example.com' },
  gateway: {
    port: 7001,
    tasks: 2,
    vpc: { id: 'vpc-1', subnets: { 'eu-central-1a': 'subnet-1', 'eu-central-1b': 'subnet-2' }, isPublic: false },
  },
};

/** Returns the sentences about what is missing. */
async function missing(changed: Account, stage: Stage = withoutIssuer): Promise<string[]> {
  account = { ...ready, ...changed };
  return (await findingsFor(stage, [stage])).filter(({ isMet }) => !isMet).map(({ text }) => text);
}

it('finds nothing missing in an account that is ready', async () => {
  expect(await missing({})).toEqual([]);
  expect(await missing({}, ownStage)).toEqual([]);
});

it.each<[string, Account, string]>([
  [
    'a new account',
    { '/2016-08-19/account-settings': { AccountLimit: { ConcurrentExecutions: 10 } } },
    'runs 10 functions at a time',
  ],
  ['a Region without bootstrap', { 'AmazonSSM.GetParameter': { Parameter: {} } }, 'is not bootstrapped for the CDK'],
  [
    'a Region of 2,500 requests',
    { '/account': { throttleSettings: { rateLimit: 2_500, burstLimit: 1_250 } } },
    'Some Regions have 2,500',
  ],
  [
    'an account without advanced backups of DynamoDB',
    { ' /account-settings': { ResourceTypeOptInPreference: { DynamoDB: true, S3: true } } },
    '--resource-type-management-preference DynamoDB=true',
  ],
  [
    'a hosted zone of another name',
    { '/2013-04-01/hostedzone/Z1': '<Name>example.net.</Name>' },
    'The hosted zone Z1 is not the public one of example.com.',
  ],
  [
    'subnets of another VPC',
    { '/?Action=DescribeSubnets': '<subnetSet><item><subnetId>subnet-1</subnetId></item></subnetSet>' },
    'vpc-1 has no subnets subnet-2.',
  ],
  [
    'a key of the data that signs',
    { 'TrentService.DescribeKey': { KeyMetadata: { KeyState: 'Enabled', KeySpec: 'ECC_NIST_P256' } } },
    'is Enabled and ECC_NIST_P256, expected Enabled and SYMMETRIC_DEFAULT',
  ],
  [
    'an account without a trail',
    { 'CloudTrail_20131101.DescribeTrails': { trailList: [] } },
    'nobody is told when a KMS key is disabled',
  ],
  ['the sandbox of SES', { '/v2/email/account': { ProductionAccessEnabled: false, SendingEnabled: true } }, 'in its sandbox'],
  [
    'an identity that is not verified',
    { '/v2/email/identities/example.com': { VerifiedForSendingStatus: false } },
    'SES has not verified example.com',
  ],
  ['an unverified account', { '/2020-05-31/distribution': '<Quantity>0</Quantity>' }, 'ask AWS Support to verify it'],
  [
    'a certificate that is not validated',
    { 'CertificateManager.DescribeCertificate': { Certificate: { Status: 'PENDING_VALIDATION' } } },
    'is PENDING_VALIDATION, not ISSUED',
  ],
  [
    'an imported certificate that expires',
    {
      'CertificateManager.DescribeCertificate': {
        Certificate: { Status: 'ISSUED', Type: 'IMPORTED', NotAfter: Date.now() / 1_000 },
      },
    },
    'Import another.',
  ],
  [
    'a failed first deployment',
    {
      stacks:
        '<DescribeStacksResponse><DescribeStacksResult><Stacks><member><StackName>s</StackName><StackStatus>ROLLBACK_COMPLETE</StackStatus>' +
        '</member></Stacks></DescribeStacksResult></DescribeStacksResponse>',
    },
    'update-termination-protection --no-enable-termination-protection --stack-name computations-full-service',
  ],
])('says in a sentence what is wrong with %s', async (_what, changed, sentence) => {
  expect((await missing(changed)).join('\n')).toContain(sentence);
});

it('counts what it cannot read as missing, and names the permission', async () => {
  const { endpoint } = aws;
  process.env['AWS_ENDPOINT_URL'] = 'http://127.0.0.1:1';
  const sentences = await missing({});
  process.env['AWS_ENDPOINT_URL'] = endpoint;
  for (const action of ['ssm:GetParameter', 'lambda:GetAccountSettings', 'apigateway:GET', 'cloudformation:DescribeStacks'])
    expect(sentences.join('\n')).toContain(`${action} was not answered`);
});

it('says that alarms tell nobody, and that an issuer cannot be read or names another', async () => {
  const discovery = await startAnswering(() => ({ issuer: 'https://other.example.com', jwks_uri: 'x' }));
  const issuer = { url: discovery.endpoint, audience: ['a'], membershipClaim: 'm' };
  const stage = { ...withoutIssuer, alarmTargets: [], issuer };
  const sentences = (await missing({}, stage)).join('\n');
  await discovery.stop();
  expect(sentences).toContain('The urgent alarms of full tell nobody.');
  expect(sentences).toContain('names the issuer https://other.example.com');
});
