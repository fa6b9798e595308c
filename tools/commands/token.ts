import {
  isMain,
  parseOptions,
  portFromEnvironment,
  print,
  runCommand,
  typed,
  UsageError,
  parseDuration,
} from '../../shared/command-line/arguments.ts';
import { membershipsHere, serviceHere, tokenHere } from './this-machine.ts';

/** The text that `npm run token -- --help` prints. */
export const usage = `Usage: ${typed('token', '--sub USER [--groups DOMAIN:ROLE[,DOMAIN:ROLE...]] [--email ADDRESS] [--expires-in 1h]')}

Prints a bearer token for the service that runs on this machine. Set PORT to its port (default 3000).

  --sub         the identifier of the user, such as alice
  --groups      the user's memberships, such as d1:viewer,d2:administrator;
                d1:cvm is for every CVM of the domain d1, d1:cvm:cvm-1 for the CVM cvm-1 alone.
                Default: those that \`${typed('domain')}\` gave the user
  --email       the user's address of mail, which the token calls verified
  --expires-in  the lifetime of the token: 90s, 30m, 12h (default) or 7d

Roles: administrator creator editor runner viewer algo_provider dataset_provider result_consumer cvm`;

/**
 * Runs `npm run token`, which prints a token for the service on this machine. @throws UsageError for a mistake in the arguments
 */
export async function tokenCommand(args: string[]): Promise<void> {
  const options = parseOptions(args, {
    sub: { type: 'string' },
    groups: { type: 'string' },
    email: { type: 'string' },
    'expires-in': { type: 'string', default: '12h' },
  });
  const { sub } = options;
  if (!sub) throw new UsageError('--sub is required.');
  const expiresInSeconds = parseDuration('--expires-in', options['expires-in']);
  const port = portFromEnvironment();
  const groups = options.groups?.split(',').filter((group) => group !== '') ?? (await groupsOf(port, sub));
  print(await tokenHere(serviceHere(port), { sub, groups, email: options.email, expires_in: expiresInSeconds }));
}

if (isMain(import.meta)) await runCommand(usage, tokenCommand);

async function groupsOf(port: number, user: string): Promise<string[]> {
  const memberships = await membershipsHere(port, user);
  if (memberships.length > 0) return memberships;
  throw new UsageError(`--groups is required: \`${typed('domain')}\` has given ${user} no role.`);
}
