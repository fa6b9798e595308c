import { Command } from 'commander';
import type { Act } from './act.ts';
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
import { addTodoCommand } from './commands/todo.ts';

/** Builds the program with all its commands. Does not run anything. */
export function createProgram(version: string, act: Act): Command {
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
  addLoginCommands(program, act);
  addInitCommand(program, act);
  addTodoCommand(program, act);
  addComputationCommands(program, act);
  addAssetCommands(program, act);
  addKeyCommands(program, act);
  addCheckCommand(program, act);
  addManifestCommand(program, act);
  addApprovalCommands(program, act);
  addRunCommands(program, act);
  addEventsCommand(program, act);
  addEvidenceCommands(program, act);
  addCvmCommands(program, act);
  addCompletionCommand(program, act);
  return program;
}
