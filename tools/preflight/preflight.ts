import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import settings from '../../cdk.json' with { type: 'json' };
import { reservedInAccount } from '../../infra/service/reserved-concurrency.ts';
import { nameIn, type Stage } from '../../infra/stages/stage.ts';
import { stageNamed, stages } from '../../infra/stages/stages.ts';
import { isMain, parseOptions, runCommand, UsageError } from '../../shared/command-line/arguments.ts';
import { askIn } from './account.ts';
import { checksOf, leftBehind, type Check, type Finding } from './checks.ts';

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
  const ask = askIn(stage.region);
  const checks = checksOf(stage, reservedInAccount(stage, rows), qualifier);
  const left: Check = { action: 'cloudformation:DescribeStacks', run: async () => leftBehind(stage, await statusesOf(stage)) };
  const found = await Promise.all(
    [...checks, left].map(({ action, run }) =>
      run(ask, stage).catch((error: unknown): Finding[] => {
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
