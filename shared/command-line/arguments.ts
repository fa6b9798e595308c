import { realpathSync } from 'node:fs';
import { parseArgs, type ParseArgsConfig } from 'node:util';
import { neverProxyLoopback } from 'computation-management-client/node';
import { durationOf } from 'computation-management-formats/timestamps';

/**
 * Parses the options of a command, which also takes `--help` and `-h`: then `runCommand` prints its usage.
 * @throws UsageError for an unknown option, a missing value or an extra argument
 */
export function parseOptions<const Options extends NonNullable<ParseArgsConfig['options']>>(args: string[], options: Options) {
  const values = valuesOf(args, { ...options, help: { type: 'boolean', short: 'h' } });
  if ('help' in values) throw new HelpRequest();
  return values;
}

function valuesOf<const Options extends NonNullable<ParseArgsConfig['options']>>(args: string[], options: Options) {
  try {
    return parseArgs({ args, options, allowPositionals: false, strict: true }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

class HelpRequest extends Error {}

/**
 * Refuses options that a command does not take.
 * @param command the name of the command in the message
 * @throws UsageError if another option is given
 */
export function refuseOptions(command: string, given: Readonly<Record<string, unknown>>, taken: readonly string[]): void {
  const other = Object.keys(given).find((name) => given[name] !== undefined && !taken.includes(name));
  if (other !== undefined) throw new UsageError(`${command} takes no --${other}.`);
}

/**
 * Returns the port of the API, from the environment variable PORT. Default: 3000.
 * @throws UsageError if PORT is not a port number
 */
export function portFromEnvironment(): number {
  return parsePort('PORT', process.env['PORT'] || '3000');
}

function parsePort(name: string, text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new UsageError(`${name} is ${JSON.stringify(text)}; expected a number from 0 to 65535.`);
}

/**
 * Returns the port of the gateway for CVMs, from the environment variable GATEWAY_PORT, or undefined if GATEWAY_PORT is not set.
 * @throws UsageError if GATEWAY_PORT is not a port number
 */
export function gatewayPortFromEnvironment(): number | undefined {
  const text = process.env['GATEWAY_PORT'];
  return text ? parsePort('GATEWAY_PORT', text) : undefined;
}

/** True if the code runs from the compiled package of the service, and false in a checkout of the repository. */
const isPackage = !import.meta.url.endsWith('.ts');

const scripts = { start: 'npm start', token: 'npm run --silent token', cvm: 'npm run cvm', domain: 'npm run domain' };

/** Returns how a user types a command of the service: as a script of npm in a checkout, as an argument of the package elsewhere. */
export function typed(command: keyof typeof scripts, options?: string): string {
  const inPackage = ['npx computation-management-service', ...(command === 'start' ? [] : [command])];
  const inCheckout = [scripts[command], ...(options === undefined ? [] : ['--'])];
  return [...(isPackage ? inPackage : inCheckout), options].join(' ').trimEnd();
}

/**
 * Returns the stage that a command is for, from its option `--stage`. Undefined: the service on the user's own machine.
 * @throws UsageError if a stage is given to the service as a package, which works on the user's machine alone
 */
export function stageFrom({ stage }: { stage?: string | undefined }): string | undefined {
  if (isPackage && stage !== undefined) throw new UsageError('--stage works in a checkout of the repository alone.');
  return stage;
}

/**
 * Returns whether Node was started with the given module as its main file. Node 22, which starts the service too, has no
 * `import.meta.main`.
 */
export function isMain({ filename }: ImportMeta): boolean {
  const [, started] = process.argv;
  return started !== undefined && realpathSync(started) === filename;
}

/** Runs a command. A UsageError prints the usage and exits with 2, any other error prints its message and exits with 1. */
export async function runCommand(
  usage: string,
  command: (args: string[]) => Promise<void>,
  args = process.argv.slice(2),
): Promise<void> {
  try {
    Object.assign(process.env, neverProxyLoopback(process.env));
    await command(args);
  } catch (error) {
    if (error instanceof HelpRequest) return void process.stdout.write(`${usage}\n`);
    const isUsage = error instanceof UsageError;
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${isUsage ? `\n${usage}\n` : ''}`);
    process.exit(isUsage ? 2 : 1);
  }
}

/** Prints a line of the output of a command. */
export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** An error in how a command was called. The command then prints its usage and exits with 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/**
 * Parses a duration, such as `90s`, `30m`, `12h` or `7d`.
 * @returns seconds
 * @throws UsageError that names the option
 */
export function parseDuration(option: string, text: string): number {
  const seconds = durationOf(text);
  if (Number.isNaN(seconds)) throw new UsageError(`${option} is ${JSON.stringify(text)}; expected 90s, 30m, 12h or 7d.`);
  return seconds;
}
