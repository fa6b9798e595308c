import { domainId } from 'computation-management-formats/identifiers';
import * as v from 'valibot';
import type { DomainManager, DomainUser } from '../domains/domains-of-stage.ts';
import {
  isMain,
  parseOptions,
  portFromEnvironment,
  print,
  refuseOptions,
  runCommand,
  stageFrom,
  typed,
  UsageError,
  parseDuration,
} from '../../shared/command-line/arguments.ts';
import { domainsHere } from './this-machine.ts';

/** The text that `npm run domain -- --help` prints. */
export const usage = `Usage: ${typed('domain', 'create --domain DOMAIN --user USER [--email ADDRESS] [--stage STAGE]')}
       ${typed('domain', 'invite --domain DOMAIN --user USER --role ROLE[,ROLE...] [--email ADDRESS] [--stage STAGE]')}
       ${typed('domain', 'role --domain DOMAIN --user USER --role ROLE[,ROLE...]|none [--stage STAGE]')}
       ${typed('domain', 'remove --domain DOMAIN [--yes] [--stop] [--wait] [--tokens-live 1h] [--stage STAGE]')}

Manages the domains of the service that runs on this machine. Set PORT to its port (default 3000). With --stage, those of a stage
on AWS, with the credentials of the stage's account.

  create    makes a domain with its first administrator
  invite    gives a user roles in a domain, beside those that the user has
  role      gives a user these roles in place of those in this domain; none removes the user from the domain.
            With an issuer of its own, a stage takes only none, with the \`sub\` of the user: it deletes the address for mail
  remove    removes everything of a domain: users, computations, runs, events, assets with their content, keys, CVMs.
            Repeat it if it was interrupted.

  --user         the name of the user. A user who does not exist is created
  --email        with --stage: where Cognito sends a new user a temporary password. Without it, the command prints one
  --role         administrator creator editor runner viewer algo_provider dataset_provider result_consumer cvm cvm:CVM
  --yes          removes. Without it, the command only counts what there is
  --stop         stops active runs first. Without it, a domain with an active run is not removed
  --wait         with --stage: waits until the last tokens have expired: about an hour, two on a stage without a domainLimit.
                 Without it, repeat the command then
  --tokens-live  with --stage: how long a token of its issuer is valid (default 1h, the stage's own user pool)
  --stage        a stage of infra/stages/stages.ts

The exit code is 0 if it is done, 1 if it failed, 2 for a mistake on the command line, 3 if a removal must be repeated later.`;

/** The options of `npm run domain` that each of its commands takes, besides --domain and --stage. */
const optionsOf = {
  create: ['user', 'email'],
  invite: ['user', 'role', 'email'],
  role: ['user', 'role'],
  remove: ['yes', 'stop', 'wait', 'tokens-live'],
} as const;
const commands = Object.keys(optionsOf) as Command[];
type Command = keyof typeof optionsOf;

const onlyWithStage: readonly string[] = ['email', 'wait', 'tokens-live'];

/**
 * Runs `npm run domain`, which creates and removes domains and manages their users. @throws UsageError for a mistake in the
 * arguments
 */
export async function domainCommand(args: string[]): Promise<void> {
  const [command = '', ...rest] = args;
  const options = parseOptions(command.startsWith('-') ? args : rest, {
    domain: { type: 'string' },
    user: { type: 'string' },
    email: { type: 'string' },
    role: { type: 'string' },
    yes: { type: 'boolean' },
    stop: { type: 'boolean' },
    wait: { type: 'boolean' },
    'tokens-live': { type: 'string' },
    stage: { type: 'string' },
  });
  if (!isCommand(command)) throw new UsageError(`Expected one of ${commands.join(' ')}.`);
  refuseOptionsOfOthers(command, options);
  const { domain, user = '', email } = options;
  const stage = stageFrom(options);
  if (!v.is(domainId, domain)) throw new UsageError('--domain is required: 1 to 64 characters of A-Z a-z 0-9 _ -');
  const roles = options.role === 'none' ? [] : (options.role ?? '').split(',').filter((role) => role !== '');
  if (command !== 'remove' && user === '') throw new UsageError('--user is required.');
  if ((command === 'invite' || command === 'role') && !options.role) throw new UsageError('--role is required.');
  if (command === 'invite' && roles.length === 0) throw new UsageError('`--role none` works only with the command `role`.');
  const tokensLive = options['tokens-live'];
  const tokensLiveInSeconds = tokensLive === undefined ? undefined : parseDuration('--tokens-live', tokensLive);

  const manager = stage === undefined ? domainsHere(portFromEnvironment()) : await managerOfStage(stage, tokensLiveInSeconds);
  switch (command) {
    case 'create':
      return printUser(user, await manager.create({ domain, user, email }));
    case 'invite':
      return printUser(user, await manager.invite({ domain, user, email, roles }));
    case 'role':
      return printUser(user, await manager.changeRoles({ domain, user, roles }));
    case 'remove':
      if (!options.yes) return await look(manager, domain);
      return await remove(manager, domain, { stop: options.stop === true, wait: options.wait === true });
  }
}

if (isMain(import.meta)) await runCommand(usage, domainCommand);

/**
 * Returns the manager of the domains of a stage on AWS. Imports its module only when it is needed, because the module contains
 * the CDK.
 */
async function managerOfStage(name: string, tokensLiveInSeconds: number | undefined): Promise<DomainManager> {
  const { domainsOfStage } = await import('../domains/domains-of-stage.ts');
  return await domainsOfStage(name, { tokensLiveInSeconds, say: print });
}

function isCommand(text: string): text is Command {
  return (commands as readonly string[]).includes(text);
}

function refuseOptionsOfOthers(command: Command, options: Readonly<Record<string, unknown>>): void {
  if (command === 'remove' && (options['user'] !== undefined || options['role'] !== undefined)) {
    throw new UsageError(
      '`remove` removes a whole domain. To take a user out of it: role --domain DOMAIN --user USER --role none.',
    );
  }
  const taken = ['domain', 'stage', ...optionsOf[command]];
  refuseOptions(`\`${command}\``, options, taken);
  if (options['stage'] !== undefined) return;
  const takenHere = taken.filter((name) => !onlyWithStage.includes(name));
  refuseOptions(`\`${command}\` without --stage`, options, takenHere);
}

function printUser(user: string, { created, memberships, token, note }: DomainUser): void {
  print(note ?? (memberships.length === 0 ? `${user} has no role any more.` : `${user} is ${memberships.join(', ')}.`));
  if (created && created.id !== user) print(`The service knows ${user} as ${created.id}.`);
  if (created?.password !== undefined) print(`Temporary password, shown only now: ${created.password}`);
  if (token !== undefined && memberships.length > 0) print(`export TOKEN=${token}`);
}

async function look(manager: DomainManager, domain: string): Promise<void> {
  const { items, content, roles, activeRuns } = await manager.look(domain);
  print(`The domain ${domain} has:`);
  printCounts({ ...items, 'objects of content': content.objects, bytes: content.bytes });
  if (roles) print(`Roles that somebody has: ${roles.join(' ') || 'none'}.`);
  print(`Active runs: ${activeRuns}.`);
  print('\nNothing was removed. To remove all of this for good, repeat the command with --yes.');
}

async function remove(manager: DomainManager, domain: string, how: { stop: boolean; wait: boolean }): Promise<void> {
  const { items, content, users, runLogs, repeatAfter, isDataLeft } = await manager.remove(domain, how);
  print(`Removed from the domain ${domain}:`);
  printCounts({
    ...items,
    'objects of content': content.objects,
    bytes: content.bytes,
    ...(users ? { users: users.users, roles: users.roles } : {}),
    ...(runLogs === undefined ? {} : { 'logs of runs': runLogs }),
  });
  print('\nWhat stays:');
  for (const sentence of manager.leaves) print(`  ${sentence}`);
  if (isDataLeft)
    print('\nOnly the users were removed so far. The stage has no domainLimit, so existing tokens can still make changes.');
  if (repeatAfter === undefined) {
    print('\nThe removal is complete.');
    return;
  }
  print(
    `\nTokens and uploads of the domain may be valid until ${repeatAfter}. Repeat the command after that to complete the removal.`,
  );
  process.exitCode = 3;
}

function printCounts(counts: Record<string, number>): void {
  for (const [what, count] of Object.entries(counts)) print(`${String(count).padStart(9)}  ${what}`);
}
