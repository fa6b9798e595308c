import { ServiceProblem } from '../../client/service-problem.ts';
import { issueLocalToken, type LocalTokenOptions } from '../../client/tokens/local-token.ts';
import { parseOptions, portFromEnvironment, runCommand, UsageError } from './arguments.ts';

const usage = `Usage: npm run --silent token -- --sub USER --groups DOMAIN:ROLE[,DOMAIN:ROLE...] [--expires-in 1h]

Prints a bearer token for the service that runs on this machine. Set PORT to its port (default 3000).

  --sub         the identifier of the user, such as alice
  --groups      the user's memberships, such as d1:viewer,d2:administrator;
                d1:cvm is for every CVM of the domain d1, d1:cvm:cvm-1 for the CVM cvm-1 alone
  --expires-in  the lifetime of the token: 90s, 30m, 12h (default) or 7d

Roles: administrator creator editor runner viewer algo_provider dataset_provider result_consumer cvm`;

const secondsPer: Record<string, number> = { s: 1, m: 60, h: 3_600, d: 86_400 };

await runCommand(usage, async () => {
  const options = parseOptions({
    sub: { type: 'string' },
    groups: { type: 'string' },
    'expires-in': { type: 'string', default: '12h' },
    help: { type: 'boolean', short: 'h' },
  });
  if (options.help) {
    process.stdout.write(`${usage}\n`);
    return;
  }
  if (!options.sub || options.groups === undefined) throw new UsageError('--sub and --groups are required.');
  const groups = options.groups.split(',').filter((group) => group !== '');
  const expiresInSeconds = seconds(options['expires-in']);
  process.stdout.write(`${await askForToken(portFromEnvironment(), { sub: options.sub, groups, expiresInSeconds })}\n`);
});

function seconds(text: string): number {
  const [, amount, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const factor = secondsPer[unit ?? ''];
  if (factor === undefined) throw new UsageError(`--expires-in is ${JSON.stringify(text)}; expected 90s, 30m, 12h or 7d.`);
  return Number(amount) * factor;
}

async function askForToken(port: number, request: Omit<LocalTokenOptions, 'baseUrl'>): Promise<string> {
  try {
    return await issueLocalToken({ baseUrl: `http://127.0.0.1:${port}`, ...request });
  } catch (error) {
    if (!(error instanceof ServiceProblem)) throw error;
    if (error.code === 'invalid_request') throw new UsageError(error.detail);
    const server = `http://localhost:${port}`;
    throw new Error(
      error.code === 'unreachable'
        ? `No service answers at ${server}. Start the service with \`npm start\`, or set PORT to its port.`
        : `The server at ${server} issues no tokens (status ${error.status}). Set PORT to the port of the service.`,
    );
  }
}
