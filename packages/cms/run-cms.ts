import { Command, CommanderError } from 'commander';
import { causeOf } from 'computation-management-client';
import { printable } from 'computation-management-formats/printable';
import { quotedName } from 'computation-management-formats/quoted-name';
import { machineHelp } from 'computation-management-words';
import { addAgentCommands } from './commands/agent.ts';
import { addApprovalCommands } from './commands/approvals.ts';
import { addAssetCommands } from './commands/assets.ts';
import { addBrokerCommand } from './commands/broker.ts';
import { addComputationCommands } from './commands/computations.ts';
import { addCvmCommands } from './commands/cvms.ts';
import { addDoctorCommand } from './commands/doctor.ts';
import { addEncryptCommand } from './commands/encrypt.ts';
import { addEventCommands } from './commands/events.ts';
import { addEvidenceCommands } from './commands/evidence.ts';
import { addFindCommand } from './commands/find.ts';
import { addInitCommands } from './commands/init.ts';
import { addKeyCommands } from './commands/keys.ts';
import { addLoginCommands } from './commands/login.ts';
import { addCheckCommand, addManifestCommand } from './commands/manifest.ts';
import { CmsCommand, refuseEmpty } from './commands/options.ts';
import { addResultCommands } from './commands/results.ts';
import { addRunCommands } from './commands/runs.ts';
import { addStatusCommand, addTodoCommand } from './commands/todo.ts';
import { contextOf, type GlobalOptions, type WrapAction } from './context/context.ts';
import { interrupted } from './context/outages.ts';
import { asCmsError, CmsError, codeOf, errorOf, type ExitCode, exitCodes, UsageError } from './terminal/cms-error.ts';
import type { Terminal } from './terminal/terminal.ts';
import { jsonText, commandLine } from './terminal/text.ts';

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
        if (error instanceof CommanderError) throw error; // cms help prints its help
        throw withNext(await context.explain(interrupted(error, terminal)), { help, typed });
      }
    };
  const isJson = args.includes('--json');
  const program = createProgram(version, wrapAction);
  const usageErrors: string[] = [];
  let help = '';
  let mistaken: Command = program;
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
    const garbled = args.find((argument) => argument.includes('\uFFFD'));
    if (garbled !== undefined) throw new UsageError(`This argument is not in UTF-8: ${quotedName(garbled)}.`, 'cms --help');
    await program.parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) {
      const result = error.code === 'commander.version' ? { version } : { help };
      terminal.out(isJson ? `${JSON.stringify(result)}\n` : help);
      return exitCodes.success;
    }
    const answered = isJson ? undefined : await answerOf(error, terminal);
    if (answered) return await runCms([...args, ...answered], terminal, version);
    const described = error instanceof CommanderError ? usageError(mistaken, args, usageErrors) : asCmsError(error);
    terminal.err(isJson ? asJson(described) : asText(described));
    return described.exitCode;
  }
}

/**
 * Asks the user for a missing argument or option of a command line. Returns the words to add to it, or undefined if nothing is missing or
 * nobody answers.
 */
async function answerOf(error: unknown, { ask }: Terminal): Promise<string[] | undefined> {
  if (!(error instanceof CommanderError) || !ask) return undefined;
  const [, argument, option, value] =
    /^error: (?:missing required argument '(.*)'|required option '(--\S+) <(.*)>')/.exec(error.message) ?? [];
  const what = argument ?? value;
  const answer = what === undefined ? '' : (await ask(`${what}: `)).trim();
  return answer === '' ? undefined : [...(option === undefined ? [] : [option]), answer];
}

/** Returns the error for a mistake in a command line, in the words of commander, with the help of the command. */
function usageError(command: Command, args: readonly string[], printed: string[]): CmsError {
  const text = printed.join('').trim();
  if (!text.startsWith('Usage:')) {
    const message = text.replace(/^error: /, '').replace(/^./, (first) => first.toUpperCase());
    const excluding = command.options.filter(
      ({ flags }) => text.includes(' cannot be used with ') && text.includes(`'${flags}'`),
    );
    const either = excluding.map(({ flags, description }) => `\n  ${flags}: ${description}`).join('');
    return new UsageError(`${message}${either && `. Give one of them:${either}`}`, helpOf(command));
  }
  return args.includes('--json') ? new UsageError('Missing command', helpOf(command)) : new UsageError(text);
}

/**
 * Returns an error with the command to type next. After a mistake on the command line or in a file, and after an error of this machine,
 * that is the help of the command, unless the error names a command itself. After a failed connection, such as one without a valid
 * certificate, it is the command that was typed.
 */
function withNext(error: unknown, { help, typed }: { help: string; typed: string }): CmsError {
  if (isOfNetwork(error)) {
    const message = `No connection: ${printable(causeOf(error))}`;
    return errorOf('unavailable', message, typed, error);
  }
  if (!(error instanceof CmsError)) return asCmsError(error).leadingTo(help);
  return error.next === undefined && error.exitCode === exitCodes.usage ? error.leadingTo(help) : error;
}

/** Returns whether an error says that a request of Node failed to connect. Errors of TLS have many codes. */
function isOfNetwork(error: unknown): boolean {
  if (error instanceof CmsError) return false;
  const isFailed = error instanceof TypeError && error.message === 'fetch failed';
  return isFailed || /CERT|TLS|SSL|^UNABLE_TO_|^EPROTO$/.test(codeOf(error));
}

/** Returns the command line that prints the help of a command. */
function helpOf(command: Command): string {
  const path = [];
  for (let each: Command | null = command; each; each = each.parent) path.unshift(each.name());
  return `${path.join(' ')} --help`;
}

function asText({ message, next }: CmsError): string {
  const lines = message.split('\n').map(printable).join('\n');
  return `${lines}\n${machineHelp(message)}${next === undefined ? '' : `Next: ${printable(next)}\n`}`;
}

function asJson({ message, next, exitCode, problem }: CmsError): string {
  return `${jsonText({ error: message, next, exit_code: exitCode, ...problem })}\n`;
}

/** Builds the program `cms` with all its commands. Does not run any command. */
export function createProgram(version: string, wrapAction: WrapAction): Command {
  const program = new CmsCommand('cms', wrapAction)
    .description('Manage confidential computations: who takes part, with which files and keys, and their runs.')
    .version(version, '-v, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand(false)
    .configureHelp({ showGlobalOptions: true })
    .option('--json', 'print results as JSON, and errors as one line of JSON')
    .option('--server <URL>', 'the service (CMS_SERVER; default: that of the profile)')
    .option('--domain <DOMAIN>', 'the domain (CMS_DOMAIN; default: that of the profile)')
    .option('--profile <NAME>', 'the login to use (CMS_PROFILE; default: default)');
  for (const [group, adders] of Object.entries(groups)) {
    program.commandsGroup(group);
    for (const add of adders) add(program);
  }
  program.addHelpText('after', examples);
  refuseEmptyValues(program);
  return program;
}

/** The functions that add the commands, by the title of their group in the help. */
const groups: Record<string, ((program: CmsCommand) => void)[]> = {
  'Begin:': [addLoginCommands, addStatusCommand, addTodoCommand, addFindCommand],
  'Set up:': [addInitCommands, addComputationCommands, addEncryptCommand, addAssetCommands, addKeyCommands, addCvmCommands],
  'Decide:': [addCheckCommand, addManifestCommand, addApprovalCommands],
  'Run and prove:': [
    addRunCommands,
    addAgentCommands,
    addResultCommands,
    addBrokerCommand,
    addEventCommands,
    addEvidenceCommands,
  ],
  'Help:': [addHelpCommand, addDoctorCommand],
};

const examples = `
Examples:
  cms login --local --user alice            log in to the service of npm start
  cms init study.yaml                       set up your part of a collaboration
  cms approve --sign ~/.ssh/id_ed25519      read, then approve
  cms run "My study" --cvm sim-1 --watch    start a run, and watch it
  cms evidence --verify                     save the proof of it, and check it

Guide: docs/command-line.md
`;

function addHelpCommand(program: CmsCommand): void {
  program
    .subcommand('help', 'print the help of a command')
    .argument('[COMMAND...]', 'such as computation list')
    .does(async (_, words: string[] | undefined = []) => {
      let found: Command = program;
      for (const word of words) {
        const next = found.commands.find((each) => each.name() === word);
        if (!next) throw new UsageError(`Unknown command '${words.join(' ')}'`, helpOf(found));
        found = next;
      }
      found.help();
    });
}

function refuseEmptyValues(command: Command): void {
  for (const taking of [...command.options, ...command.registeredArguments]) refuseEmpty(taking);
  command.commands.forEach(refuseEmptyValues);
}
