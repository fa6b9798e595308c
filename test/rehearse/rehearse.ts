import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseOptions, runCommand, UsageError } from '../../shared/command-line/arguments.ts';
import { stageNamed } from '../../infra/stages/stages.ts';
import { demandPrerequisites } from '../prerequisites.ts';
import { drillIncidents } from './incident-drill.ts';
import { incidents } from './incidents.ts';
import { drillRestore } from './restore-drill.ts';
import { rehearseStage } from './rehearse-stage.ts';
import type { StageToRehearse, RowChanges } from './emulated-stage.ts';

const usage = `Usage: npm run rehearse -- [--python PYTHON] [--stage STAGE] [--bus] [--canary] [--restore | --incidents]

Deploys a stage with the real \`cdk deploy\` to MiniStack, an AWS emulator on this machine, runs the end-to-end suite through
its API Gateway, and removes the stage. With --restore, a drill of docs/restore.md in place of the suite: it damages the stage,
runs the document's commands, and checks what came back. With --incidents, a drill of docs/runbook.md: it breaks the stage in many ways,
checks that the right alarm would start, runs the page's commands, and uses the stage again. Needs no AWS account and no Docker. docs/rehearsal.md lists what it cannot show.

  --python  a Python 3.10 or newer with the packages of test/prerequisites.json (default python3)
  --stage   a stage of infra/stages/stages.ts that has its own user pool (default dev)
  --bus     with an event bus in the row of the stage
  --canary  with a canary in the row of the stage
  --restore drill the restoration
  --incidents
            drill the incidents, with a bus and a canary
  --help    print this help`;

await runCommand(usage, async (args) => {
  const options = parseOptions(args, {
    python: { type: 'string', default: 'python3' },
    stage: { type: 'string', default: 'dev' },
    bus: { type: 'boolean', default: false },
    canary: { type: 'boolean', default: false },
    restore: { type: 'boolean', default: false },
    incidents: { type: 'boolean', default: false },
  });
  const { name, region, issuer, eventBus, canary } = stageNamed(options.stage);
  if (issuer) throw new UsageError(`The stage ${name} has an external issuer, which gives no tokens to a rehearsal.`);
  const changes: RowChanges = {
    ...((options.bus || options.incidents || eventBus) && { eventBus: true }),
    ...((options.canary || options.incidents || canary) && { canary: canary ?? { everyMinutes: 15 } }),
  };
  const stage: StageToRehearse = { name, region, changes };
  const drill = options.restore ? 'rehearse the restoration' : options.incidents ? 'rehearse the incidents' : 'rehearse';
  demandPrerequisites(drill, options.python);
  console.log(`Stage ${stage.name} on MiniStack, an emulator of AWS`);

  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1));
  const folder = mkdtempSync(join(tmpdir(), 'rehearsal-'));
  try {
    const place = { python: options.python, folder };
    if (options.restore) await drillRestore(stage, place);
    else if (options.incidents) await drillIncidents(stage, place, incidents);
    else await rehearseStage(stage, place);
  } catch (error) {
    console.log(`\nLogs, templates and results are in ${folder}.`);
    throw error;
  }
  rmSync(folder, { recursive: true });
});
