import { parseArgs, type ParseArgsConfig } from 'node:util';

/** Says what is wrong with a command line; the exit code is 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Parses a command's options. @throws UsageError for an unknown option, a missing value, a stray word */
export function parseOptions<const Options extends NonNullable<ParseArgsConfig['options']>>(options: Options) {
  try {
    return parseArgs({ options, allowPositionals: false, strict: true }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

/** The port that PORT names, 3000 without. @throws UsageError */
export function portFromEnvironment(): number {
  const text = process.env['PORT'] || '3000';
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new UsageError(`PORT is ${JSON.stringify(text)}; expected a number from 0 to 65535.`);
}

/** Runs a command; a wrong command line ends it with its usage and exit code 2, any other failure with exit code 1. */
export async function runCommand(usage: string, command: () => Promise<void>): Promise<void> {
  try {
    await command();
  } catch (error) {
    const isUsage = error instanceof UsageError;
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${isUsage ? `\n${usage}\n` : ''}`);
    process.exit(isUsage ? 2 : 1);
  }
}
