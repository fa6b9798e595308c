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
  const expires_in = seconds(options['expires-in']);
  process.stdout.write(`${await askForToken(portFromEnvironment(), { sub: options.sub, groups, expires_in })}\n`);
});

function seconds(text: string): number {
  const [, amount, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const factor = secondsPer[unit ?? ''];
  if (factor === undefined) throw new UsageError(`--expires-in is ${JSON.stringify(text)}; expected 90s, 30m, 12h or 7d.`);
  return Number(amount) * factor;
}

async function askForToken(port: number, request: { sub: string; groups: string[]; expires_in: number }): Promise<string> {
  const response = await ask(port, request);
  const answer = (await response.json().catch(() => ({}))) as { access_token?: string; message?: string };
  if (response.status === 400) throw new UsageError(answer.message ?? 'The service refused the request.');
  if (answer.access_token === undefined) {
    throw new Error(
      `The server at http://localhost:${port} issues no tokens (status ${response.status}). Set PORT to the port of the service.`,
    );
  }
  return answer.access_token;
}

async function ask(port: number, request: unknown): Promise<Response> {
  try {
    return await fetch(`http://127.0.0.1:${port}/local/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(request),
    });
  } catch {
    throw new Error(
      `No service answers at http://localhost:${port}. Start the service with \`npm start\`, or set PORT to its port.`,
    );
  }
}
