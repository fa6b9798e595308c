import { parseArgs, type ParseArgsConfig } from 'node:util';
import { neverProxyLoopback } from './loopback.ts';

/** A mistake on the command line. The command prints its usage and exits with 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Parses a command's options. @throws UsageError for an unknown option, a missing value or an extra argument */
export function parseOptions<const Options extends NonNullable<ParseArgsConfig['options']>>(options: Options) {
  try {
    return parseArgs({ options, allowPositionals: false, strict: true }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

/** Reads the port from PORT. Default 3000. @throws UsageError if PORT is not a port number */
export function portFromEnvironment(): number {
  const text = process.env['PORT'] || '3000';
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new UsageError(`PORT is ${JSON.stringify(text)}; expected a number from 0 to 65535.`);
}

/** Runs a command. A UsageError prints the usage and exits with 2, any other error exits with 1. */
export async function runCommand(usage: string, command: () => Promise<void>): Promise<void> {
  try {
    neverProxyLoopback();
    await command();
  } catch (error) {
    const isUsage = error instanceof UsageError;
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${isUsage ? `\n${usage}\n` : ''}`);
    process.exit(isUsage ? 2 : 1);
  }
}
