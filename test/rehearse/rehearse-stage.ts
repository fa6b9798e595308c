import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onEmulatedStage, type Place, type StageToRehearse, step } from './emulated-stage.ts';
import { type EmulatorAddress, linesOfFunctions } from './emulator-client.ts';
import { type Emulator, exitCodeOf, tailOf } from './emulator.ts';
import { describeVerdict, judge, type Verdict } from './verdict.ts';

export interface SuiteRun {
  emulator: Emulator;
  url: string;
  /** Tokens by the name of the person in the suite. */
  tokens: Record<string, string>;
  folder: string;
}

/** Runs the end-to-end suite as against any deployed stage. */
async function runSuite({ emulator, url, tokens, folder }: SuiteRun): Promise<Verdict> {
  const results = join(folder, 'suite.json');
  const logFile = join(folder, 'suite.log');
  const given = Object.entries(tokens).flatMap(([person, token]) => ['--token', `${person}=${token}`]);
  await exitCodeOf({
    words: ['npm', 'run', '--silent', 'test:deployed', '--', '--url', url, ...given, '--results', results],
    environment: emulator.contentEnvironment,
    logFile,
  });
  try {
    return judge(JSON.parse(readFileSync(results, 'utf8')));
  } catch {
    throw new Error(`The suite left no results:\n\n${tailOf(logFile)}`);
  }
}

/** Runs the end-to-end suite on a stage on the emulator. @throws Error if a step fails, or a case that is not listed in verdict.ts */
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
  if (verdict.failed.length > 0) throw new Error('Cases failed that are not listed in test/rehearse/verdict.ts.');
  if (purge.refused.length > 0) throw new Error(`Deletions could not call the purge:\n\n${purge.refused.join('\n')}`);
}

/** The entries about the purge in the logs of the functions that delete. */
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
