import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Emulator } from './emulator.ts';
import { exitCodeOf, tailOf } from './run-command.ts';
import { judge, type Verdict } from './verdict.ts';

export interface SuiteRun {
  emulator: Emulator;
  url: string;
  /** Tokens by the name of the person in the suite. */
  tokens: Record<string, string>;
  folder: string;
}

/** Runs the end-to-end suite as against any deployed stage. */
export async function runSuite({ emulator, url, tokens, folder }: SuiteRun): Promise<Verdict> {
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
