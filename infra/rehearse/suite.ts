import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { domains } from './emulated-users.ts';
import type { Emulator } from './emulator.ts';
import { exitCodeOf, tailOf } from './run-command.ts';
import { judge, type Verdict } from './verdict.ts';

export interface SuiteRun {
  emulator: Emulator;
  url: string;
  /** By the name that the suite has for who carries it. */
  tokens: Record<string, string>;
  folder: string;
}

/** The end-to-end suite as it runs against any deployed stage. */
export async function runSuite({ emulator, url, tokens, folder }: SuiteRun): Promise<Verdict> {
  const results = join(folder, 'suite.json');
  const logFile = join(folder, 'suite.log');
  await exitCodeOf({
    words: [
      'vitest',
      'run',
      'test/e2e',
      '--no-file-parallelism',
      '--reporter=default',
      '--reporter=json',
      `--outputFile.json=${results}`,
    ],
    environment: {
      ...emulator.contentEnvironment,
      TARGET_URL: url,
      TARGET_TOKENS: JSON.stringify(tokens),
      TARGET_DOMAIN: domains.own,
      TARGET_OTHER_DOMAIN: domains.other,
    },
    logFile,
  });
  try {
    return judge(JSON.parse(readFileSync(results, 'utf8')));
  } catch {
    throw new Error(`The suite left no results:\n\n${tailOf(logFile)}`);
  }
}
