import { Command, CommanderError } from 'commander';
import { causeOf } from 'computation-management-client';
import { printable } from 'computation-management-formats/printable';
import { addApprovalCommands } from './commands/approvals.ts';
import { addAssetCommands } from './commands/assets.ts';
import { addCompletionCommand } from './commands/completion.ts';
import { addComputationCommands } from './commands/computations.ts';
import { addCvmCommands } from './commands/cvms.ts';
import { addEventsCommand } from './commands/events.ts';
import { addEvidenceCommands } from './commands/evidence.ts';
import { addFindCommand } from './commands/find.ts';
import { addExportCommand, addInitCommand } from './commands/init.ts';
import { addKeyCommands } from './commands/keys.ts';
import { addLoginCommands } from './commands/login.ts';
import { addLogsCommand } from './commands/logs.ts';
import { addCheckCommand, addManifestCommand } from './commands/manifest.ts';
import { refuseEmpty } from './commands/options.ts';
import { addRunCommands } from './commands/runs.ts';
import { addTodoCommand } from './commands/todo.ts';
import { contextOf, type GlobalOptions, type WrapAction } from './context/context.ts';
import { interrupted } from './context/outages.ts';
import { CmsError, type ExitCode, exitCodes } from './terminal/cms-error.ts';
import { commandLine } from './terminal/shell-word.ts';
import type { Terminal } from './terminal/terminal.ts';
import { jsonText } from './terminal/text.ts';

/** Runs one command line. Prints errors on standard error. @returns the exit code */
export async function runCms(args: readonly string[], terminal: Terminal, version: string): Promise<ExitCode> {
  let exitCode: ExitCode = exitCodes.success;
  const wrapAction: WrapAction =
    (action) =>
    async (...given) => {
      const command = given.at(-1);
      const [options, help] =
        command instanceof Command ? [command.optsWithGlobals<GlobalOptions>(), helpOf(command)] : [{}, 'cms --help'];
      const typed = commandLine(args);
      const context = contextOf(options, terminal, { typed, help, exitWith: (code) => (exitCode = code) });
      try {
        await action(context, ...given);
      } catch (error) {
        throw withNext(await context.explain(interrupted(error, terminal)), { help, typed });
      }
    };
  const isJson = args.includes('--json');
  const program = createProgram(version, wrapAction);
  const usageErrors: string[] = [];
  let help = '';
  let mistaken = program;
  const prepare = (command: Command) => {
    command.exitOverride((error) => {
      mistaken = command;
      throw error;
    });
    command.configureOutput({
      writeOut: (text) => (help += text),
      writeErr: (text) => usageErrors.push(text),
      getOutHelpWidth: () => terminal.columns ?? 100,
    });
    command.commands.forEach(prepare);
  };
  prepare(program);
  try {
    await program.parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) {
      const result = error.code === 'commander.version' ? { version } : { help };
      terminal.out(isJson ? `${JSON.stringify(result)}\n` : help);
      return exitCodes.success;
    }
    const described = error instanceof CommanderError ? usageError(mistaken, args, usageErrors) : errorOf(error);
    terminal.err(isJson ? asJson(described) : asText(described));
    return described.exitCode;
  }
}

/** What commander says about a mistake in the line of a command, and where to read more. */
function usageError(command: Command, args: readonly string[], printed: string[]): CmsError {
  const text = printed.join('').trim();
  const isHelp = text.startsWith('Usage:');
  const message = isHelp
    ? withoutCommand(text, args)
    : text.replace(/^error: /, '').replace(/^./, (first) => first.toUpperCase());
  const next = message === text ? undefined : helpOf(command); // the text is that help already
  return new CmsError(message, { next, exitCode: exitCodes.usage });
}

/** A command line without a command shows the help. After `cms help`, the command that is to be explained does not exist. */
function withoutCommand(help: string, args: readonly string[]): string {
  const words = args.filter((arg) => !arg.startsWith('-'));
  if (words[0] === 'help') return `Unknown command '${words.slice(1).join(' ')}'`;
  return args.includes('--json') ? 'Missing command' : help;
}

/**
 * Names the help of the command as the next one after a mistake on the command line or in a file, and after an error of this machine,
 * unless the error names a command itself. A connection that fails, such as one without a valid certificate, may succeed later.
 */
function withNext(error: unknown, { help, typed }: { help: string; typed: string }): unknown {
  if (isOfNetwork(error)) {
    return new CmsError(`No connection: ${printable(causeOf(error))}`, {
      next: typed,
      exitCode: exitCodes.unavailable,
      cause: error,
    });
  }
  if (!(error instanceof CmsError)) return new CmsError(messageOf(error), { next: help, cause: error });
  if (error.next !== undefined || error.exitCode !== exitCodes.usage) return error;
  const { message, exitCode, problem, cause } = error;
  return new CmsError(message, { next: help, exitCode, problem, cause });
}

/** Whether `fetch` or a request of Node failed to connect. The errors of TLS have no code of their own kind. */
function isOfNetwork(error: unknown): boolean {
  if (!(error instanceof Error) || error instanceof CmsError) return false;
  const code = 'code' in error ? String(error.code) : '';
  return (error instanceof TypeError && error.message === 'fetch failed') || /CERT|TLS|SSL|^UNABLE_TO_|^EPROTO$/.test(code);
}

/** Returns the command that explains a command. */
function helpOf(command: Command): string {
  const path = [];
  for (let each: Command | null = command; each; each = each.parent) path.unshift(each.name());
  return `${path.join(' ')} --help`;
}

function errorOf(error: unknown): CmsError {
  if (error instanceof CmsError) return error;
  return new CmsError(messageOf(error), { cause: error });
}

/** Such an error may quote what was read: it has no lines of its own. */
function messageOf(error: unknown): string {
  return printable(error instanceof Error ? error.message : String(error));
}

function asText({ message, next }: CmsError): string {
  const lines = message.split('\n').map(printable).join('\n');
  return `${lines}\n${next === undefined ? '' : `Next: ${printable(next)}\n`}`;
}

function asJson({ message, next, exitCode, problem }: CmsError): string {
  return `${jsonText({ error: message, next, exit_code: exitCode, ...problem })}\n`;
}

/** Builds the program with all its commands. Does not run anything. */
export function createProgram(version: string, wrapAction: WrapAction): Command {
  const program = new Command('cms')
    .description('Manage confidential computations: who takes part, with which files and keys, and their runs.')
    .version(version, '--version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand('help [COMMAND]', 'print the help of a command')
    .configureHelp({ showGlobalOptions: true })
    .option('--json', 'print results as JSON, and errors as one line of JSON')
    .option('--server <URL>', 'the service (CMS_SERVER; default: that of the profile)')
    .option('--domain <DOMAIN>', 'the domain (CMS_DOMAIN; default: that of the profile)')
    .option('--profile <NAME>', 'the login to use (CMS_PROFILE; default: default)');
  addLoginCommands(program, wrapAction);
  addInitCommand(program, wrapAction);
  addExportCommand(program, wrapAction);
  addTodoCommand(program, wrapAction);
  addFindCommand(program, wrapAction);
  addComputationCommands(program, wrapAction);
  addAssetCommands(program, wrapAction);
  addKeyCommands(program, wrapAction);
  addCheckCommand(program, wrapAction);
  addManifestCommand(program, wrapAction);
  addApprovalCommands(program, wrapAction);
  addRunCommands(program, wrapAction);
  addEventsCommand(program, wrapAction);
  addLogsCommand(program, wrapAction);
  addEvidenceCommands(program, wrapAction);
  addCvmCommands(program, wrapAction);
  addCompletionCommand(program, wrapAction);
  refuseEmptyValues(program);
  return program;
}

function refuseEmptyValues(command: Command): void {
  for (const taking of [...command.options, ...command.registeredArguments]) refuseEmpty(taking);
  command.commands.forEach(refuseEmptyValues);
}
