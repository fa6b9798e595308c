import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseOptions, runCommand } from '../../shared/command-line/arguments.ts';
import { UsageError } from '../../shared/command-line/usage-error.ts';
import { stageNamed } from '../../infra/stages/stage-named.ts';
import { versionOfEmulator } from './emulator.ts';
import { drillRestore } from './restore-drill.ts';
import { rehearseStage } from './rehearse-stage.ts';
import type { StageToRehearse, RowChanges } from './emulated-stage.ts';

const usage = `Usage: npm run rehearse -- [--python PYTHON] [--stage STAGE] [--bus] [--canary] [--restore]

Deploys a stage with the real \`cdk deploy\` to MiniStack, an AWS emulator on this machine, runs the end-to-end suite through
its API Gateway, and removes the stage. With --restore, a drill of docs/restore.md in place of the suite: it damages the stage,
runs the document's commands, and checks what came back. Needs no AWS account and no Docker. docs/rehearsal.md lists what it cannot show.

  --python  a Python 3.10 or newer with the packages ministack and cryptography (default python3)
  --stage   a stage of infra/stages/stages.ts that has its own user pool (default dev)
  --bus     with an event bus in the row of the stage
  --canary  with a canary in the row of the stage
  --restore drill the restoration; PYTHON also needs the package awscli
  --help    print this help`;

await runCommand(usage, async (args) => {
  const options = parseOptions(args, {
    python: { type: 'string', default: 'python3' },
    stage: { type: 'string', default: 'dev' },
    bus: { type: 'boolean', default: false },
    canary: { type: 'boolean', default: false },
    restore: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h' },
  });
  if (options.help) {
    console.log(usage);
    return;
  }
  const { name, region, issuer, eventBus, canary } = stageNamed(options.stage);
  if (issuer) throw new UsageError(`The stage ${name} has an external issuer, which gives no tokens to a rehearsal.`);
  const changes: RowChanges = {
    ...((options.bus || eventBus) && { eventBus: true }),
    ...((options.canary || canary) && { canary: canary ?? { everyMinutes: 15 } }),
  };
  const stage: StageToRehearse = { name, region, changes };
  console.log(`Stage ${stage.name} on MiniStack ${versionOfEmulator(options.python)}, an emulator of AWS`);

  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1));
  const folder = mkdtempSync(join(tmpdir(), 'rehearsal-'));
  try {
    const place = { python: options.python, folder };
    await (options.restore ? drillRestore(stage, place) : rehearseStage(stage, place));
  } catch (error) {
    console.log(`\nLogs, templates and results are in ${folder}.`);
    throw error;
  }
  rmSync(folder, { recursive: true });
});
