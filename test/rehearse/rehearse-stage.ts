import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EmulatorAddress } from './emulator-client.ts';
import { onEmulatedStage, step, type Place } from './emulated-stage.ts';
import { linesOfFunctions } from './function-logs.ts';
import type { StageToRehearse } from './stage-to-rehearse.ts';
import { runSuite } from './suite.ts';
import { describeVerdict, type Verdict } from './verdict.ts';

/** Runs the end-to-end suite on a stage on the emulator. @throws Error if a step fails, or a case that is not listed in impossible.ts */
export async function rehearseStage(stage: StageToRehearse, place: Place): Promise<void> {
  const { folder } = place;
  let verdict: Verdict | undefined;
  let purge: CallsOfPurge | undefined;
  await onEmulatedStage(stage, place, async ({ emulator, url, tokens }) => {
    verdict = await step('Running the end-to-end suite', () => runSuite({ emulator, url, tokens, folder }));
    writeFileSync(join(folder, 'function-errors.log'), (await linesOfFunctions(emulator.address, 'ERROR')).join('\n'));
    purge = await callsOfPurge(emulator.address);
  });
  if (!verdict || !purge) return;
  console.log(describeVerdict(verdict));
  console.log(`Deletions that left work to the purge: ${purge.left.length}, of which ${purge.refused.length} could not call it`);
  if (verdict.failed.length > 0) throw new Error('Cases failed that are not listed in test/rehearse/impossible.ts.');
  if (purge.refused.length > 0) throw new Error(`Deletions could not call the purge:\n\n${purge.refused.join('\n')}`);
}

/** What the functions that delete logged. */
interface CallsOfPurge {
  left: string[];
  refused: string[];
}

async function callsOfPurge(emulator: EmulatorAddress): Promise<CallsOfPurge> {
  return {
    left: await linesOfFunctions(emulator, 'The purge continues in the background'),
    refused: await linesOfFunctions(emulator, 'The purge could not be called'),
  };
}
