import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { stageNamed } from '../../infra/stages/stages.ts';
import { type ExistingState, nameIn } from '../../infra/stages/stage.ts';
import { DrillClient } from './drill-client.ts';
import { adaptAssembly } from './emulated-assembly.ts';
import { appOf, type EmulatedStage, onEmulatedStage, type Place, type StageToRehearse, step } from './emulated-stage.ts';
import { blocksOf, fill, runShell as runIn } from './page-commands.ts';

const document = new URL('../../docs/restore.md', import.meta.url);
const timeInDocument = '2026-11-22T02:00:00Z';

/** The values that an operator puts in place of the document's `<names>`. */
export interface Filled {
  stage: string;
  TableArn: string;
  ContentBucketName: string;
  /** The time to restore: RFC 3339, UTC, seconds. */
  time: string;
  lifecycleSteps: string;
}

/**
 * Returns the commands of a section of docs/restore.md, as shell text.
 * @param section the number of the section
 * @param block which of its blocks of commands, from 0
 */
function commandsOf(section: number, block: number, { time, ...names }: Filled): string {
  const [text = ''] = readFileSync(document, 'utf8')
    .split(/^## /m)
    .filter((part) => part.startsWith(`${section}. `));
  const commands = blocksOf(text)[block];
  if (!commands) throw new Error(`Section ${section} of docs/restore.md has no block ${block} of commands.`);
  return fill(commands.replaceAll(timeInDocument, time), names);
}

/**
 * Damages a stage on the emulator and restores it by the commands of docs/restore.md. The emulator restores a table as it is when it is asked,
 * so that command runs before the damage.
 * @throws Error if a step fails, or if something did not come back
 */
export async function drillRestore(stage: StageToRehearse, place: Place): Promise<void> {
  await onEmulatedStage(stage, place, async (emulated) => {
    const client = new DrillClient(emulated);
    await step('Creating computations, content and an active run', () => client.fill());
    const before = await client.look();
    const { reservedConcurrency } = stageNamed(stage.name);
    const reservesNone = reservedConcurrency === 'none';
    const filled: Filled = {
      stage: stage.name,
      TableArn: emulated.output('state', 'TableArn'),
      ContentBucketName: emulated.output('state', 'ContentBucketName'),
      time: new Date().toISOString().replace(/\.\d+Z$/, 'Z'),
      lifecycleSteps: reservesNone ? '' : String(reservedConcurrency.lifecycleSteps),
    };
    const shell = (title: string, section: number, block: number) =>
      step(title, () => runShell(emulated, `restore-${section}-${block}`, commandsOf(section, block, filled)));

    await delay(1_000); // the damage is in another second than the time to restore
    await shell('Section 1: restoring the table', 1, 1);
    await step('Deleting assets and computations, ending the run, creating others', () => client.damage());
    if (isDeepStrictEqual(await client.look(), before)) throw new Error('The damage changed nothing.');
    await step('Waiting until the purge has deleted content', () =>
      runShell(emulated, 'purge', untilDeleted(filled.ContentBucketName, client.deletedAssets)),
    );
    await shell('Section 1: keeping tasks from deleting content and ending runs', 1, 0);
    await step('Calling the purge as a deletion does: it is refused', () =>
      runShell(emulated, 'purge-refused', purgeIsRefused(stage)),
    );
    await shell('Section 1: settings of the restored table', 1, 2);
    const switchOn = `(${commandsOf(1, 3, filled)}) > stream.txt`;
    await step('Section 1: the stream of the restored table', () => runShell(emulated, 'restore-1-3', switchOn));
    const tableStreamArn = readFileSync(join(place.folder, 'stream.txt'), 'utf8').trim();
    const existing: ExistingState = { tableName: `computations-${stage.name}-restored`, tableStreamArn };
    await shell('Section 2: bringing deleted content back', 2, 0);

    const assembly = join(place.folder, 'cdk.adopting');
    const { args, environment } = appOf({ ...stage, changes: { ...stage.changes, existing } });
    await step('Section 3: naming the restored table in the row', async () => {
      await emulated.cdk(['synth', `${stage.name}/*`, '--quiet', '--output', assembly, ...args], environment);
      adaptAssembly(join(assembly, `assembly-${stage.name}`));
    });
    const withoutState = ['Service', 'Operations', ...(stage.changes.canary ? ['Canary'] : [])];
    const deploy = (...stacks: string[]) =>
      emulated.cdk(['deploy', ...stacks, '--app', assembly, '--require-approval', 'never'], emulated.emulator.awsEnvironment);
    await step('Section 3: deploying the stacks without state', () =>
      deploy('--exclusively', ...withoutState.map((stack) => `${stage.name}/${stack}`)),
    );
    await step('Section 3: deploying all stacks', () => deploy(`${stage.name}/*`));
    await shell('Section 4: resuming the runs that were active', 4, 0);
    await shell('Section 4: letting the tasks go on', 4, 1);
    await shell('Section 4: letting the functions go on', 4, reservesNone ? 3 : 2);
    await step('Calling the purge: it works', () => runShell(emulated, 'purge-works', callOfPurge(stage)));

    await step('Looking at what came back', async () => client.compare(before, await client.look()));
    await step('Completing the run that was active', () => client.completeResumed());
    await step('Running a computation to its end', () => client.runToCompletion());
  });
  console.log(
    '\nEverything came back: computations, totals, links and content. The run of before went on, and another one completed.',
  );
}

/** Waits, for three minutes at most, until so many objects of a bucket are deleted. The purge runs every minute. */
function untilDeleted(bucket: string, objects: number): string {
  const markers = `aws s3api list-object-versions --bucket ${bucket} --prefix content/ --query 'length(DeleteMarkers || \`[]\`)'`;
  return `for attempt in $(seq 90); do [ "$(${markers})" -ge ${objects} ] && exit 0; sleep 2; done; echo 'Error: the purge deletes nothing.'`;
}

function callOfPurge(stage: StageToRehearse): string {
  return `aws lambda invoke --function-name ${nameIn(stage, 'maintenance/purge')} purged.json`;
}

function purgeIsRefused(stage: StageToRehearse): string {
  return `(${callOfPurge(stage)} 2>&1 || true) | grep -c TooManyRequestsException`;
}

/** Runs commands. @throws Error if one fails, or says that something did */
async function runShell(emulated: EmulatedStage, name: string, text: string): Promise<void> {
  const printed = await runIn(emulated, name, text);
  if (/error/i.test(printed)) throw new Error(printed);
}
