import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Stage } from '../../infra/stages/stage.ts';
import { findingsFor } from '../../tools/preflight/preflight.ts';
import { startAnswering } from '../support/answering-server.ts';
import { fullStage, ownStage } from '../support/synthesized-stages.ts';

/** The answers that the account of a test has, by the target of a request or its path. A text is XML. */
type Account = Record<string, object | string>;

const ready: Account = {
  'AmazonSSM.GetParameter': { Parameter: { Value: '28' } },
  '/2016-08-19/account-settings': { AccountLimit: { ConcurrentExecutions: 4_000, UnreservedConcurrentExecutions: 4_000 } },
  '/account': { throttleSettings: { rateLimit: 10_000, burstLimit: 5_000 } },
  'CloudTrail_20131101.DescribeTrails': { trailList: [{ Name: 'organisation' }] },
  '/?Action=GetCallerIdentity': '<Account>111122223333</Account>',
  'AWSBudgetServiceGateway.DescribeBudgets': { Budgets: [] },
  'CertificateManager.DescribeCertificate': {
    Certificate: { Status: 'ISSUED', DomainName: 'api.example.com', Type: 'AMAZON_ISSUED' },
  },
  'secretsmanager.DescribeSecret': {},
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

const { issuer: _, ...withoutIssuer } = fullStage;

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
    'an account without a trail',
    { 'CloudTrail_20131101.DescribeTrails': { trailList: [] } },
    'nobody is told when a KMS key is disabled',
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
  expect(sentences).toContain('The alarms of full tell nobody.');
  expect(sentences).toContain('names the issuer https://other.example.com');
});
