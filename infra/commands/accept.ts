import { randomBytes } from 'node:crypto';
import { accept, costOf } from '../accept/accept.ts';
import type { AcceptTarget } from '../accept/accept-target.ts';
import { facts } from '../accept/facts.ts';
import { notMeasured, type Finding } from '../accept/finding.ts';
import { isMain, parseOptions, portFromEnvironment, runCommand } from '../../shared/command-line/arguments.ts';
import { UsageError } from '../../shared/command-line/usage-error.ts';
import { serviceHere } from '../../tools/commands/ask-this-machine.ts';
import { domainsHere } from '../../tools/commands/domains-here.ts';

const usage = `Usage: npm run accept -- [--stage STAGE] [--changes 200] [--writes-per-second 100] [--seconds 5] [--url URL] [--yes]

Measures what no emulator shows, on a stage on AWS, and prints it beside what the documents say: totals and pages while changes run,
conflicts, how many writes a second are made, an alarm that arrives, the length of task tokens, cold starts. Without --stage,
on the service of this machine (PORT, default 3000), as far as that goes.

It makes a domain of its own with a user, and removes both in the end, as \`npm run domain -- remove\` does. It uses the credentials of
the stage's account, and needs a stage with a user pool. An alarm rings for a moment: tell the people on duty.

  --changes            computations that are created while their list is read
  --writes-per-second  the highest rate of creates that is offered
  --seconds            how long each rate is offered
  --url                with --stage: another address of the API, such as an emulator's
  --yes                measures. Without it, the command only says what it costs

The exit code is 0 if everything holds that can be measured there, 1 if something does not or the command fails, 2 for a mistake on the
command line.`;

/** `npm run accept`. @throws UsageError for a mistake in the arguments */
export async function acceptCommand(args: string[]): Promise<void> {
  const options = parseOptions(args, {
    stage: { type: 'string' },
    changes: { type: 'string', default: '200' },
    'writes-per-second': { type: 'string', default: '100' },
    seconds: { type: 'string', default: '5' },
    url: { type: 'string' },
    yes: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h' },
  });
  if (options.help) {
    print(usage);
    return;
  }
  if (options.url !== undefined && options.stage === undefined)
    throw new UsageError('--url is for a stage: give --stage as well.');
  const amounts = {
    changes: amount('--changes', options.changes, 10_000),
    writesPerSecond: amount('--writes-per-second', options['writes-per-second'], 2_000),
    seconds: amount('--seconds', options.seconds, 60),
  };
  const { calls, dollars } = costOf(amounts);
  const where = options.stage === undefined ? 'on this machine, where they cost nothing' : `on ${options.stage}`;
  print(
    `At most ${calls.toLocaleString('en')} calls ${where}${options.stage === undefined ? '' : `, at most $${dollars.toFixed(2)}`}.`,
  );
  if (!options.yes) {
    print('Nothing was measured. Repeat the command with --yes.');
    return;
  }
  const target = options.stage === undefined ? here(portFromEnvironment()) : await targetOfStage(options.stage, options.url);
  const domain = `accept-${randomBytes(4).toString('hex')}`;
  const findings: Finding[] = [];
  try {
    const token = await target.administrator(domain);
    await accept(target, {
      ...amounts,
      domain,
      token,
      onFinding: (finding) => {
        findings.push(finding);
        print(`${finding.what}: ${finding.measured}`);
      },
    });
  } finally {
    await removeDomain(target, domain, options.stage);
  }
  printTable(findings);
  if (findings.some(({ holds }) => holds === false)) process.exitCode = 1;
}

if (isMain(import.meta)) await runCommand(usage, acceptCommand);

function amount(option: string, text: string, most: number): number {
  if (/^[1-9]\d{0,5}$/.test(text) && Number(text) <= most) return Number(text);
  throw new UsageError(`${option} is ${JSON.stringify(text)}; expected a number from 1 to ${most}.`);
}

function here(port: number): AcceptTarget {
  const domains = domainsHere(port);
  return {
    url: serviceHere(port),
    domains,
    administrator: async (domain) => (await domains.create({ domain, user: domain })).token ?? '',
    limit: undefined,
    checkAws: async (_, { onFinding }) => {
      for (const fact of Object.values(facts)) onFinding(notMeasured(fact, 'one machine has none of AWS'));
    },
  };
}

/** Loaded only when it is needed, because it contains the CDK. */
async function targetOfStage(name: string, url: string | undefined): Promise<AcceptTarget> {
  const { acceptStage } = await import('../accept/accept-stage.ts');
  return await acceptStage(name, { url, say: print });
}

async function removeDomain({ domains }: AcceptTarget, domain: string, stage: string | undefined): Promise<void> {
  const { items, repeatAfter } = await domains.remove(domain, { stop: true, wait: false });
  const count = Object.values(items).reduce((sum, each) => sum + each, 0);
  print(`Removed the domain ${domain}: ${count} items.`);
  if (repeatAfter === undefined) return;
  print(`Its last token expires at ${repeatAfter}. After that, complete the removal:`);
  print(`  npm run domain -- remove --domain ${domain}${stage === undefined ? '' : ` --stage ${stage}`} --yes`);
}

function printTable(findings: readonly Finding[]): void {
  const rows = findings.map(({ what, documented, measured, holds }) => [
    what,
    documented,
    measured,
    holds === undefined ? '-' : holds ? 'yes' : 'NO',
  ]);
  const table = [['what', 'the documents', 'measured', 'holds'], ...rows];
  const widths = [0, 1, 2].map((column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
  print('');
  for (const row of table)
    print(
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    );
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
