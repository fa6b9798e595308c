import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { Sha256 } from '@smithy/core/checksum';
import { HttpRequest } from '@smithy/core/transport';
import { SignatureV4 } from '@smithy/signature-v4';
import settings from '../../cdk.json' with { type: 'json' };
import { reservedInAccount } from '../../infra/service/reserved-concurrency.ts';
import { nameIn, type Stage } from '../../infra/stages/stage.ts';
import { stageNamed, stages } from '../../infra/stages/stages.ts';
import { isMain, parseOptions, runCommand, UsageError } from '../../shared/command-line/arguments.ts';
import { type Ask, checksOf, leftBehind, type Check, type Finding } from './checks.ts';

/** The services of AWS with one address for all Regions. */
const isGlobal = new Set(['budgets', 'cloudfront', 'route53']);

const timeInMilliseconds = 15_000;

export function askIn(stageRegion: string): Ask {
  const { config } = new CloudFormationClient({ region: stageRegion }); // for the credentials that every command finds
  return async (service, { target, body = {}, path = '/', query = {}, region = stageRegion, signedAs = service }) => {
    const suffix = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
    const place = isGlobal.has(service) ? service : `${service}.${region}`;
    const url = new URL(path, process.env['AWS_ENDPOINT_URL'] ?? `https://${place}.${suffix}`);
    url.search = new URLSearchParams(query).toString();
    const { protocol, hostname, host, pathname } = url;
    const sent = target
      ? {
          method: 'POST',
          body: JSON.stringify(body),
          headers: { host, 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': target },
        }
      : { method: 'GET', headers: { host, accept: 'application/json' } };
    const signer = new SignatureV4({ service: signedAs, region, credentials: config.credentials, sha256: Sha256 });
    const { headers } = await signer.sign(new HttpRequest({ protocol, hostname, path: pathname, query, ...sent }));
    const answer = await fetch(url, { ...sent, headers, signal: AbortSignal.timeout(timeInMilliseconds) });
    const text = await answer.text();
    const given = text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : { text };
    if (answer.ok) return given;
    const { __type, message, Message } = given as Record<string, string | undefined>;
    const type = __type ?? answer.headers.get('x-amzn-errortype') ?? String(answer.status);
    const name = type.replace(/^.*#/, '').replace(/:.*$/, '');
    throw Object.assign(new Error(message ?? Message ?? text.slice(0, 200)), { name });
  };
}

const usage = `Usage: npm run preflight -- --stage STAGE

Says what the account of your credentials lacks for a stage of infra/stages/stages.ts, before anything is created. It changes
nothing. Exits with 1 if something is missing, or cannot be read.`;

const stacks = ['state', 'service', 'operations', 'gateway', 'canary', 'console', 'consolefiles', 'budget'];

/**
 * Runs `npm run preflight`, which says what the account lacks for a stage. @throws UsageError for a mistake in the arguments,
 * Error if the account lacks something
 */
async function preflightCommand(args: string[]): Promise<void> {
  const { stage: name } = parseOptions(args, { stage: { type: 'string' } });
  if (name === undefined) throw new UsageError('--stage is required.');
  const findings = await findingsFor(stageNamed(name), stages);
  for (const { isMet, text } of findings) process.stdout.write(`${isMet ? 'ok     ' : 'MISSING'} ${text}\n`);
  const missing = findings.filter(({ isMet }) => !isMet).length;
  if (missing > 0) throw new Error(`\n${missing} of ${findings.length} are missing. Nothing was changed.`);
  process.stdout.write(`\nDeploy with: npx cdk deploy '${name}/*'\n`);
}

export async function findingsFor(stage: Stage, rows: readonly Stage[]): Promise<Finding[]> {
  const context: Record<string, unknown> = settings.context;
  const own = context['@aws-cdk/core:bootstrapQualifier'];
  const qualifier = typeof own === 'string' ? own : 'hnb659fds';
  const checks = checksOf(stage, askIn(stage.region), { reserved: reservedInAccount(stage, rows), qualifier });
  const left: Check = { action: 'cloudformation:DescribeStacks', run: async () => leftBehind(stage, await statusesOf(stage)) };
  const found = await Promise.all(
    [...checks, left].map(({ action, run }) =>
      run().catch((error: unknown): Finding[] => {
        if (error instanceof Error && error.name === 'CredentialsProviderError') {
          throw new Error('There are no credentials for AWS. Sign in, or name a profile with AWS_PROFILE, and try again.');
        }
        const why = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
        return [{ isMet: false, text: `${action} was not answered (${why}), so it is not known. Allow it, or look by hand.` }];
      }),
    ),
  );
  return found.flat();
}

async function statusesOf(stage: Stage): Promise<Map<string, string>> {
  const client = new CloudFormationClient({ region: stage.region });
  const statuses = new Map<string, string>();
  for (const stack of stacks) {
    try {
      const { Stacks = [] } = await client.send(new DescribeStacksCommand({ StackName: nameIn(stage, stack) }));
      for (const { StackStatus = '' } of Stacks) statuses.set(stack, StackStatus);
    } catch (error) {
      if (!(error instanceof Error && /does not exist/.test(error.message))) throw error;
    }
  }
  return statuses;
}

if (isMain(import.meta)) await runCommand(usage, preflightCommand);
