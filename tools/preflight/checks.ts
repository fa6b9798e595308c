import { isPaged, nameIn, targetsOf, webhooksOf, type MailRow, type Stage } from '../../infra/stages/stage.ts';

interface Question {
  /** The operation of a service of AWS with JSON 1.1. Default: the request is a GET without an operation. */
  target?: string;
  body?: object;
  path?: string;
  query?: Record<string, string>;
  /** The name of the service in signatures. Default: that in its address. */
  signedAs?: string;
  /** The region of the service that is asked. Default: the region of the stage. */
  region?: string;
}

/**
 * Sends a request to a service of AWS with the caller's credentials, and returns the answer. An answer in XML is in the field
 * `text`. @throws Error with AWS's error code as its name
 */
export type Ask = (service: string, question: Question) => Promise<Record<string, unknown>>;

/** The finding of a check before a deployment: a sentence, and whether a deployment can succeed with it. */
export interface Finding {
  isMet: boolean;
  text: string;
}

export interface Check {
  /**
   * The action of AWS that the check calls, which the caller's credentials must be allowed; or the address or file that the check
   * reads.
   */
  action: string;
  run: () => Promise<Finding[]>;
}

const met = (text: string): Finding => ({ isMet: true, text });
const lacks = (text: string): Finding => ({ isMet: false, text });
const either = (isMet: boolean, yes: string, no: string) => [isMet ? met(yes) : lacks(no)];

const leastUnreserved = 100;
const oldestBootstrap = 6;
const daysOfCertificate = 45;

/**
 * Returns the checks of an account before a stage is deployed there. @param reserved the concurrent executions that all stages of
 * the account reserve @param qualifier the qualifier of the CDK's bootstrap stack
 */
export function checksOf(stage: Stage, ask: Ask, { reserved, qualifier }: { reserved: number; qualifier: string }): Check[] {
  const { name, region, throttling, monthlyBudgetInDollars, domain, console, issuer, alarmTargets, mail, hostedZone } = stage;
  const checks: Check[] = [];
  const add = (action: string, run: Check['run']) => void checks.push({ action, run });

  add('ssm:GetParameter', async () => {
    const command = `npx cdk bootstrap aws://<account>/${region}${qualifier === 'hnb659fds' ? '' : ` --qualifier ${qualifier}`}`;
    const Name = `/cdk-bootstrap/${qualifier}/version`;
    const found = await ask('ssm', { target: 'AmazonSSM.GetParameter', body: { Name } }).catch((error: unknown) => {
      if (error instanceof Error && error.name === 'ParameterNotFound') return undefined;
      throw error;
    });
    const { Value: version = '0' } = (found?.['Parameter'] ?? {}) as { Value?: string };
    return either(
      Number(version) >= oldestBootstrap,
      `${region} is bootstrapped for the CDK.`,
      `${region} is not bootstrapped for the CDK${found ? `, only with version ${version}` : ''}. Run: ${command}`,
    );
  });
  add('lambda:GetAccountSettings', async () => {
    const { AccountLimit } = await ask('lambda', { path: '/2016-08-19/account-settings' });
    const { ConcurrentExecutions: quota = 0, UnreservedConcurrentExecutions: unreserved = 0 } = AccountLimit as Record<
      string,
      number
    >;
    const needed = stage.reservedConcurrency === 'none' ? 0 : reserved + leastUnreserved;
    return [
      ...either(
        quota >= Math.max(needed, stage.accountConcurrency),
        `The account runs ${quota} functions at a time; the stages need ${needed}.`,
        `The account runs ${quota} functions at a time, but the row of ${name} says accountConcurrency ${stage.accountConcurrency} and reserves ` +
          `${reserved}. Request more (Service Quotas, Lambda, Concurrent executions), or set accountConcurrency to ${quota} and ` +
          `reservedConcurrency to 'none'.`,
      ),
      met(
        `${Math.max(0, quota - unreserved)} of them are reserved there already. What other teams reserve must be subtracted from accountConcurrency.`,
      ),
    ];
  });
  add('apigateway:GET', async () => {
    const { throttleSettings } = await ask('apigateway', { path: '/account' });
    const { rateLimit = 0, burstLimit = 0 } = (throttleSettings ?? {}) as { rateLimit?: number; burstLimit?: number };
    return either(
      rateLimit >= throttling.requestsPerSecond && burstLimit >= throttling.burst,
      `API Gateway admits ${rateLimit} requests a second in ${region}.`,
      `API Gateway admits ${rateLimit} requests a second, ${burstLimit} at once, in ${region}; throttling of ${name} says ` +
        `${throttling.requestsPerSecond} and ${throttling.burst}. Some Regions have 2,500. Lower throttling, or request more.`,
    );
  });
  add('cloudtrail:DescribeTrails', async () => {
    const target = 'com.amazonaws.cloudtrail.v20131101.CloudTrail_20131101.DescribeTrails';
    const { trailList } = await ask('cloudtrail', { target });
    return either(
      ((trailList ?? []) as object[]).length > 0,
      'CloudTrail has a trail, so the alarm key-changes works.',
      'CloudTrail has no trail, so nobody is told when a KMS key is disabled. Create one for management events.',
    );
  });
  if (monthlyBudgetInDollars !== undefined) {
    add('sts:GetCallerIdentity and budgets:ViewBudget', async () => {
      const identity = await ask('sts', { query: { Action: 'GetCallerIdentity', Version: '2011-06-15' } });
      const [AccountId] = /\d{12}/.exec(JSON.stringify(identity)) ?? [];
      const target = 'AWSBudgetServiceGateway.DescribeBudgets';
      await ask('budgets', { target, body: { AccountId }, region: 'us-east-1' });
      return [met('AWS Budgets answers. If the organisation denies budgets, leave monthlyBudgetInDollars out.')];
    });
  }
  if (stage.copiesVaultArn !== undefined) {
    add('backup:DescribeRegionSettings', async () => {
      const { ResourceTypeManagementPreference: advanced, ResourceTypeOptInPreference: chosen } = (await ask('backup', {
        path: '/account-settings',
      })) as Record<string, Record<string, boolean> | undefined>;
      return either(
        advanced?.['DynamoDB'] === true && chosen?.['DynamoDB'] === true && chosen['S3'] === true,
        'AWS Backup copies tables and buckets.',
        'AWS Backup copies no tables or buckets out of the Region: the account has not opted in. Run: aws backup update-region-settings ' +
          '--resource-type-management-preference DynamoDB=true --resource-type-opt-in-preference DynamoDB=true,S3=true',
      );
    });
  }
  if (stage.dataKeyArn !== undefined) {
    add('kms:DescribeKey', async () => {
      const { KeyMetadata } = await ask('kms', { target: 'TrentService.DescribeKey', body: { KeyId: stage.dataKeyArn } });
      const { KeyState, KeySpec } = KeyMetadata as Record<string, unknown>;
      return either(
        KeyState === 'Enabled' && KeySpec === 'SYMMETRIC_DEFAULT',
        'The key of dataKeyArn is enabled.',
        `The key of dataKeyArn is ${String(KeyState)} and ${String(KeySpec)}, expected Enabled and SYMMETRIC_DEFAULT.`,
      );
    });
  }
  if (hostedZone) {
    add('route53:GetHostedZone', async () => {
      const { id } = hostedZone;
      const zone = String((await ask('route53', { path: `/2013-04-01/hostedzone/${id}`, region: 'us-east-1' }))['text']);
      return either(
        zone.includes(`<Name>${hostedZone.name}.</Name>`) && !zone.includes('<PrivateZone>true<'),
        `The hosted zone ${id} is that of ${hostedZone.name}.`,
        `The hosted zone ${id} is not the public one of ${hostedZone.name}.`,
      );
    });
  }
  const vpc = stage.gateway?.vpc;
  if (vpc) {
    add('ec2:DescribeSubnets', async () => {
      const query = { Action: 'DescribeSubnets', Version: '2016-11-15', 'Filter.1.Name': 'vpc-id', 'Filter.1.Value.1': vpc.id };
      const found = String((await ask('ec2', { query }))['text']);
      const missing = Object.values(vpc.subnets).filter((id) => !found.includes(`<subnetId>${id}<`));
      return either(
        missing.length === 0,
        `${vpc.id} has the subnets of the row.`,
        `${vpc.id} has no subnets ${missing.join(', ')}.`,
      );
    });
  }
  for (const CertificateArn of [domain?.certificateArn, console?.domain?.certificateArn]) {
    if (CertificateArn === undefined) continue;
    add('acm:DescribeCertificate', async () => {
      const [, , , ofCertificate = region] = CertificateArn.split(':');
      const target = 'CertificateManager.DescribeCertificate';
      const { Certificate } = await ask('acm', { target, body: { CertificateArn }, region: ofCertificate });
      const { Status, DomainName, Type, NotAfter } = Certificate as Record<string, unknown>;
      const days = Math.floor((Number(NotAfter) * 1_000 - Date.now()) / 86_400_000);
      const expiry = `It is imported, and expires in ${days} days.`;
      return [
        ...either(
          Status === 'ISSUED',
          `The certificate of ${String(DomainName)} is issued.`,
          `The certificate ${CertificateArn} is ${String(Status)}, not ISSUED. Finish its validation first.`,
        ),
        ...(Type === 'IMPORTED'
          ? either(days > daysOfCertificate, `${expiry} AWS does not renew it.`, `${expiry} Import another.`)
          : []),
      ];
    });
  }
  const secrets = [...webhooksOf(stage), stage.canary?.credentials].flatMap((each) => each?.secretName ?? []);
  for (const SecretId of secrets) {
    add('secretsmanager:DescribeSecret', async () => {
      await ask('secretsmanager', { target: 'secretsmanager.DescribeSecret', body: { SecretId } });
      return [met(`The secret ${SecretId} exists.`)];
    });
  }
  if (mail) {
    add('ses:GetAccount', async () => {
      const path = '/v2/email/account';
      const { ProductionAccessEnabled, SendingEnabled } = await ask('email', { path, signedAs: 'ses' });
      return either(
        ProductionAccessEnabled === true && SendingEnabled === true,
        `SES sends mail in ${region}.`,
        `SES sends no mail to everybody in ${region}: the account is in its sandbox, or stopped. Request production access.`,
      );
    });
    add('ses:GetEmailIdentity', async () => {
      const path = `/v2/email/identities/${encodeURIComponent(mail.identity)}`;
      const { VerifiedForSendingStatus } = await ask('email', { path, signedAs: 'ses' });
      return either(
        VerifiedForSendingStatus === true && isOfIdentity(mail),
        `SES has verified ${mail.identity}.`,
        `SES has not verified ${mail.identity} in ${region}, or ${mail.from} is not of it. Verify the identity first.`,
      );
    });
  }
  if (console) {
    add('cloudfront:ListDistributions', async () => {
      const answer = await ask('cloudfront', { path: '/2020-05-31/distribution', region: 'us-east-1' });
      return either(
        !JSON.stringify(answer).includes('<Quantity>0</Quantity>'),
        'The account has distributions of CloudFront.',
        'The account has no distribution of CloudFront yet. AWS refuses the first one of an account that it has not verified: ask AWS ' +
          'Support to verify it, or leave console out of the first deployment.',
      );
    });
  }
  if (issuer) add(`GET ${issuer.url}`, async () => [await issuerAnswers(issuer.url)]);
  add('infra/stages/stages.ts', async () =>
    either(
      isPaged(stage) || (alarmTargets === 'none' && !stage.deletionProtection),
      targetsOf(stage).length > 0 ? 'Alarms tell somebody.' : 'Alarms tell nobody, as the row says.',
      `The urgent alarms of ${name} tell nobody. Add a target to its alarmTargets.`,
    ),
  );
  return checks;
}

function isOfIdentity({ from, identity }: MailRow): boolean {
  return from === identity || from.endsWith(`@${identity}`) || from.endsWith(`.${identity}`);
}

async function issuerAnswers(url: string): Promise<Finding> {
  const place = `${url.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const read = async <T>(address: string) => (await (await fetch(address, { signal: AbortSignal.timeout(15_000) })).json()) as T;
  try {
    const { issuer, jwks_uri } = await read<{ issuer?: string; jwks_uri?: string }>(place);
    if (issuer !== url)
      return lacks(`${place} names the issuer ${issuer}; the row says ${url}. They must be equal, slashes too.`);
    const { keys } = await read<{ keys: { kty: string }[] }>(String(jwks_uri));
    if (!keys.some(({ kty }) => kty === 'RSA')) return lacks(`${url} has no RSA key. API Gateway accepts no other.`);
    return met(`The issuer ${url} answers, and signs with RSA.`);
  } catch (error) {
    return lacks(`${place} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/**
 * Returns a finding for each stack that a failed first deployment has left behind, with the commands to remove it. @param
 * statuses of the stage's stacks by name
 */
export function leftBehind(stage: Stage, statuses: ReadonlyMap<string, string>): Finding[] {
  return [...statuses].flatMap(([stack, status]) => {
    if (!/^ROLLBACK_(COMPLETE|FAILED)$|^CREATE_FAILED$/.test(status)) return [];
    const StackName = nameIn(stage, stack);
    return [
      lacks(
        `${StackName} is left over from a first deployment that failed (${status}). The CDK deletes it, but not while it is protected. Run: ` +
          `aws cloudformation update-termination-protection --no-enable-termination-protection --stack-name ${StackName}` +
          (status === 'ROLLBACK_COMPLETE' ? '' : `, and: aws cloudformation delete-stack --stack-name ${StackName}`),
      ),
    ];
  });
}
