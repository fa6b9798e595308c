import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseOptions, runCommand, UsageError } from '../../shared/command-line/arguments.ts';
import { killServices } from '../support/service-process.ts';
import { demandPrerequisites } from '../prerequisites.ts';
import { buildAgent, commitOf } from './agent-cvm.ts';
import { attestedCases } from './attested-cases.ts';
import { cases as otherCases, type RehearsalCase } from './cases.ts';
import { keyCases, trusteeCases } from './key-cases.ts';
import { reviewedCases } from './reviewed-cases.ts';
import { RehearsalWorld } from './rehearsal-world.ts';
import { RehearsedService, ServiceWithOwnGateway } from './rehearsed-service.ts';

const cases = [...otherCases, ...attestedCases, ...keyCases, ...reviewedCases];

const usage = `Usage: npm run rehearse:agent -- --source DIR [--python PYTHON] [--replace MODULE=DIR]... [--trustee-attester PROGRAM]
         [--only CASE]... [--keep]

Builds the agent of Cocos from a checkout of github.com/ultravioletrs/cocos in DIR, and runs computations of this service on it,
in CVMs without a TEE. test/prerequisites.json says what that needs.

  --python PYTHON       the Python that has the package acro. Default: python3
  --replace MODULE=DIR  take a Go module that the module proxy does not have from DIR
  --trustee-attester PROGRAM
                        play also the case trustee-attester, with this program of Confidential Containers
  --only CASE           play only this case. Repeat it for more
  --keep                keep the directory with the logs of all programs also if all cases pass

Cases: ${cases.map(({ name }) => name).join(' ')}`;

interface Verdict {
  case: string;
  verdict: 'passed' | 'FAILED';
  seconds: string;
  seen: string;
}

await runCommand(usage, async (args) => {
  const options = parseOptions(args, {
    source: { type: 'string' },
    python: { type: 'string', default: 'python3' },
    replace: { type: 'string', multiple: true, default: [] },
    'trustee-attester': { type: 'string' },
    only: { type: 'string', multiple: true, default: [] },
    keep: { type: 'boolean', default: false },
  });
  if (options.source === undefined) throw new UsageError('--source is required.');
  const source = resolve(options.source);
  const attester = options['trustee-attester'];
  const all = attester === undefined ? cases : [...cases, ...trusteeCases(resolve(attester))];
  const chosen = all.filter(({ name }) => options.only.length === 0 || options.only.includes(name));
  if (chosen.length === 0) throw new UsageError(`No case is called ${options.only.join(' or ')}.`);

  demandPrerequisites(attester === undefined ? 'rehearse:agent' : 'rehearse:agent with trustee-attester', options.python);
  process.stdout.write(`Building the agent of commit ${await commitOf(source)}.\n`);
  const binaries = join(tmpdir(), 'rehearsed-agent');
  const program = await buildAgent({ source, directory: binaries, replacements: options.replace });
  const directory = mkdtempSync(join(tmpdir(), 'ra-'));
  process.stdout.write(`The logs of all programs are in ${directory}.\n`);
  const verdicts: Verdict[] = [];
  for (const hasOwnGateway of [false, true]) {
    const ofThese = chosen.filter((each) => (each.hasOwnGateway ?? false) === hasOwnGateway);
    if (ofThese.length === 0) continue;
    const kind = hasOwnGateway ? ServiceWithOwnGateway : RehearsedService;
    const service = await kind.start(join(directory, hasOwnGateway ? 'service-2' : 'service-1'));
    try {
      for (const each of ofThese) {
        verdicts.push(
          await play(each, new RehearsalWorld(service, { name: each.name, directory, program, python: options.python })),
        );
      }
    } finally {
      await service.end('SIGTERM');
      killServices();
    }
  }
  console.table(verdicts.map(({ seen: _, ...verdict }) => verdict));
  const isPassed = verdicts.every(({ verdict }) => verdict === 'passed');
  if (isPassed && !options.keep) rmSync(directory, { recursive: true });
  process.exit(isPassed ? 0 : 1);
});

async function play({ name, play }: RehearsalCase, world: RehearsalWorld): Promise<Verdict> {
  const startedAt = performance.now();
  const verdict = (verdict: Verdict['verdict'], seen: string): Verdict => {
    const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
    process.stdout.write(`${name} ${verdict} after ${seconds} s: ${seen}\n`);
    return { case: name, verdict, seconds, seen };
  };
  try {
    return verdict('passed', await play(world));
  } catch (error) {
    return verdict('FAILED', error instanceof Error ? error.message : String(error));
  } finally {
    await world.stop();
  }
}
