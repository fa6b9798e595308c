import { spawn } from 'node:child_process';
import { openSync, closeSync, readFileSync } from 'node:fs';

export interface Command {
  words: readonly [string, ...string[]];
  environment: NodeJS.ProcessEnv;
  /** Receives everything that the command prints. */
  logFile: string;
}

/** Runs a command to its end. @throws Error with the end of its output if its exit code is not 0 */
export async function runCommand(command: Command): Promise<void> {
  const code = await exitCodeOf(command);
  if (code !== 0)
    throw new Error(
      `\`${command.words.join(' ')}\` ended with ${code === null ? 'a signal' : `exit code ${code}`}:\n\n${tailOf(command.logFile)}`,
    );
}

/** Runs a command to its end. Returns its exit code, or null if a signal ended it. */
export async function exitCodeOf({ words, environment, logFile }: Command): Promise<number | null> {
  const [program, ...args] = words;
  const log = openSync(logFile, 'w');
  try {
    return await new Promise((resolve, reject) => {
      const child = spawn(program, args, { env: environment, stdio: ['ignore', log, log] });
      child.once('error', reject);
      child.once('exit', resolve);
    });
  } finally {
    closeSync(log);
  }
}

const linesOfTail = 30;

/** Returns the last lines that a command printed. */
export function tailOf(logFile: string): string {
  return readFileSync(logFile, 'utf8').trimEnd().split('\n').slice(-linesOfTail).join('\n');
}
