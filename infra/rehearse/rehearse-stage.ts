import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onEmulatedStage, step, type Place } from './emulated-stage.ts';
import { errorsOfFunctions } from './function-errors.ts';
import type { StageToRehearse } from './stage-to-rehearse.ts';
import { runSuite } from './suite.ts';
import { describeVerdict, type Verdict } from './verdict.ts';

/** Runs the end-to-end suite on a stage on the emulator. @throws Error if a step fails, or a case that is not listed in impossible.ts */
export async function rehearseStage(stage: StageToRehearse, place: Place): Promise<void> {
  const { folder } = place;
  let verdict: Verdict | undefined;
  await onEmulatedStage(stage, place, async ({ emulator, url, tokens }) => {
    verdict = await step('Running the end-to-end suite', () => runSuite({ emulator, url, tokens, folder }));
    writeFileSync(join(folder, 'function-errors.log'), (await errorsOfFunctions(emulator.address)).join('\n'));
  });
  if (!verdict) return;
  console.log(describeVerdict(verdict));
  if (verdict.failed.length > 0) throw new Error('Cases failed that are not listed in infra/rehearse/impossible.ts.');
}
