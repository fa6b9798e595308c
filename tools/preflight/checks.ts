import { nameIn, targetsOf, type Stage } from '../../infra/stages/stage.ts';
import type { Ask } from './account.ts';

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
  run: (ask: Ask, stage: Stage) => Promise<Finding[]>;
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
export function checksOf(stage: Stage, reserved: number, qualifier: string): Check[] {
  const { name, region, throttling, monthlyBudgetInDollars, domain, console, issuer, alarmTargets } = stage;
  const arns = [domain?.certificateArn, console?.domain?.certificateArn].filter((arn) => arn !== undefined);
  const secrets = [
    ...targetsOf(stage).flatMap((target) => ('webhook' in target ? [target.webhook.secretName] : [])),
    ...(stage.canary?.credentials ? [stage.canary.credentials.secretName] : []),
  ];
  return [
    {
      action: 'ssm:GetParameter',
      run: async (ask) => {
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
      },
    },
    {
      action: 'lambda:GetAccountSettings',
      run: async (ask) => {
        const { AccountLimit } = await ask('lambda', { path: '/2016-08-19/account-settings' });
        const { ConcurrentExecutions: quota, UnreservedConcurrentExecutions: unreserved } = AccountLimit as Record<
          string,
          number
        >;
        const needed = stage.reservedConcurrency === 'none' ? 0 : reserved + leastUnreserved;
        const others = Math.max(0, (quota ?? 0) - (unreserved ?? 0));
        return [
          ...either(
            (quota ?? 0) >= Math.max(needed, stage.accountConcurrency),
            `The account runs ${quota} functions at a time; the stages need ${needed}.`,
            `The account runs ${quota} functions at a time, but the row of ${name} says accountConcurrency ${stage.accountConcurrency} and reserves ` +
              `${reserved}. Request more (Service Quotas, Lambda, Concurrent executions), or set accountConcurrency to ${quota} and ` +
              `reservedConcurrency to 'none'.`,
          ),
          met(
            `${others} of them are reserved there already. What other teams reserve must be subtracted from accountConcurrency.`,
          ),
        ];
      },
    },
    {
      action: 'apigateway:GET',
      run: async (ask) => {
        const { throttleSettings } = await ask('apigateway', { path: '/account' });
        const { rateLimit = 0, burstLimit = 0 } = (throttleSettings ?? {}) as { rateLimit?: number; burstLimit?: number };
        return either(
          rateLimit >= throttling.requestsPerSecond && burstLimit >= throttling.burst,
          `API Gateway admits ${rateLimit} requests a second in ${region}.`,
          `API Gateway admits ${rateLimit} requests a second, ${burstLimit} at once, in ${region}; throttling of ${name} says ` +
            `${throttling.requestsPerSecond} and ${throttling.burst}. Some Regions have 2,500. Lower throttling, or request more.`,
        );
      },
    },
    {
      action: 'cloudtrail:DescribeTrails',
      run: async (ask) => {
        const { trailList } = await ask('cloudtrail', {
          target: 'com.amazonaws.cloudtrail.v20131101.CloudTrail_20131101.DescribeTrails',
        });
        const trails = (trailList ?? []) as object[];
        return either(
          trails.length > 0,
          'CloudTrail has a trail, so the alarm key-changes works.',
          'CloudTrail has no trail, so nobody is told when a KMS key is disabled. Create one for management events.',
        );
      },
    },
    ...(monthlyBudgetInDollars === undefined
      ? []
      : [
          {
            action: 'sts:GetCallerIdentity and budgets:ViewBudget',
            run: async (ask: Ask) => {
              const identity = await ask('sts', { query: { Action: 'GetCallerIdentity', Version: '2011-06-15' } });
              const [AccountId] = /\d{12}/.exec(JSON.stringify(identity)) ?? [];
              const target = 'AWSBudgetServiceGateway.DescribeBudgets';
              await ask('budgets', { target, body: { AccountId }, region: 'us-east-1' });
              return [met('AWS Budgets answers. If the organisation denies budgets, leave monthlyBudgetInDollars out.')];
            },
          },
        ]),
    ...arns.map((CertificateArn) => ({
      action: 'acm:DescribeCertificate',
      run: async (ask: Ask) => {
        const [, , , ofCertificate = region] = CertificateArn.split(':');
        const target = 'CertificateManager.DescribeCertificate';
        const { Certificate } = await ask('acm', { target, body: { CertificateArn }, region: ofCertificate });
        const { Status, DomainName, Type, NotAfter } = Certificate as Record<string, unknown>;
        const days = Math.floor((Number(NotAfter) * 1_000 - Date.now()) / 86_400_000);
        return [
          ...either(
            Status === 'ISSUED',
            `The certificate of ${String(DomainName)} is issued.`,
            `The certificate ${CertificateArn} is ${String(Status)}, not ISSUED. Finish its validation first.`,
          ),
          ...(Type === 'IMPORTED'
            ? either(
                days > daysOfCertificate,
                `It is imported, and expires in ${days} days. AWS does not renew it.`,
                `It is imported, and expires in ${days} days. Import another.`,
              )
            : []),
        ];
      },
    })),
    ...secrets.map((SecretId) => ({
      action: 'secretsmanager:DescribeSecret',
      run: async (ask: Ask) => {
        await ask('secretsmanager', { target: 'secretsmanager.DescribeSecret', body: { SecretId } });
        return [met(`The secret ${SecretId} exists.`)];
      },
    })),
    ...(console
      ? [
          {
            action: 'cloudfront:ListDistributions',
            run: async (ask: Ask) => {
              const answer = await ask('cloudfront', { path: '/2020-05-31/distribution', region: 'us-east-1' });
              return either(
                !JSON.stringify(answer).includes('<Quantity>0</Quantity>'),
                'The account has distributions of CloudFront.',
                'The account has no distribution of CloudFront yet. AWS refuses the first one of an account that it has not verified: ask AWS ' +
                  'Support to verify it, or leave console out of the first deployment.',
              );
            },
          },
        ]
      : []),
    ...(issuer ? [{ action: `GET ${issuer.url}`, run: async () => [await issuerAnswers(issuer.url)] }] : []),
    {
      action: 'infra/stages/stages.ts',
      run: () =>
        Promise.resolve(
          either(
            targetsOf(stage).length > 0 || (alarmTargets === 'none' && !stage.deletionProtection),
            targetsOf(stage).length > 0 ? 'Alarms tell somebody.' : 'Alarms tell nobody, as the row says.',
            `The alarms of ${name} tell nobody. Add a target to its alarmTargets.`,
          ),
        ),
    },
  ];
}

async function issuerAnswers(url: string): Promise<Finding> {
  const place = `${url.replace(/\/$/, '')}/.well-known/openid-configuration`;
  try {
    const answer = await fetch(place, { signal: AbortSignal.timeout(15_000) });
    const { issuer, jwks_uri } = (await answer.json()) as { issuer?: string; jwks_uri?: string };
    if (issuer !== url)
      return lacks(`${place} names the issuer ${issuer}; the row says ${url}. They must be equal, slashes too.`);
    const keys = (await (await fetch(String(jwks_uri), { signal: AbortSignal.timeout(15_000) })).json()) as {
      keys: { kty: string }[];
    };
    if (!keys.keys.some(({ kty }) => kty === 'RSA')) return lacks(`${url} has no RSA key. API Gateway accepts no other.`);
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
