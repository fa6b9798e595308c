import { Command } from 'commander';
import type { WrapAction } from './wrap-action.ts';
import { addApprovalCommands } from './commands/approvals.ts';
import { addAssetCommands } from './commands/assets.ts';
import { addCheckCommand } from './commands/check.ts';
import { addCompletionCommand } from './commands/completion.ts';
import { addComputationCommands } from './commands/computations.ts';
import { addCvmCommands } from './commands/cvms.ts';
import { addEventsCommand } from './commands/events.ts';
import { addEvidenceCommands } from './commands/evidence.ts';
import { addInitCommand } from './commands/init.ts';
import { addKeyCommands } from './commands/keys.ts';
import { addLoginCommands } from './commands/login.ts';
import { addManifestCommand } from './commands/manifest.ts';
import { addRunCommands } from './commands/runs.ts';
import { refuseEmpty } from './commands/options.ts';
import { addTodoCommand } from './commands/todo.ts';

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
  addTodoCommand(program, wrapAction);
  addComputationCommands(program, wrapAction);
  addAssetCommands(program, wrapAction);
  addKeyCommands(program, wrapAction);
  addCheckCommand(program, wrapAction);
  addManifestCommand(program, wrapAction);
  addApprovalCommands(program, wrapAction);
  addRunCommands(program, wrapAction);
  addEventsCommand(program, wrapAction);
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
