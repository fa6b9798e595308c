import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join, resolve as resolvePath } from 'node:path';
import { roles } from '../shared/access/roles.ts';
import { parseOptions, runCommand, UsageError } from '../infra/local/arguments.ts';
import { claimsOf, type Person } from './support/target.ts';

const persons = [...Object.keys(roles), 'outsider'] as Person[];

const usage = `Usage: npm run test:deployed -- --url URL --token TOKEN [--token NAME=TOKEN ...] [--domain DOMAIN] [--results FILE]

Runs the end-to-end suite against a deployed stage, over HTTP alone. It takes away what it makes; the statistics remember it.

  --url     the stage's base URL
  --token   a bearer token of an administrator, who is a CVM of the domain too; with a name, one of somebody else:
            ${persons.filter((person) => person !== 'administrator').join(' ')}
            (an outsider has every role in another domain, and none in this one)
  --domain  the domain to work in; the one that the administrator's token names, unless told
  --results takes the results of every test, as JSON

Tests that act as somebody for whom there is no token are skipped, and named. Nobody else should use the domain meanwhile.
The exit code is 0 when all passed, 1 when one failed or the stage cannot be reached, 2 for a wrong command line.`;

await runCommand(usage, async () => {
  const options = parseOptions({
    url: { type: 'string' },
    token: { type: 'string', multiple: true, default: [] },
    domain: { type: 'string' },
    results: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
  });
  if (options.help) {
    process.stdout.write(`${usage}\n`);
    return;
  }
  const url = baseUrl(options.url);
  const tokens = tokensByPerson(options.token);
  const domain = options.domain ?? domainOf(tokens.administrator);
  const otherDomain = membershipsOf(tokens.outsider ?? '').find((membership) => membership.domain !== domain)?.domain ?? '';
  await checkStage(url, domain, tokens);
  const environment = {
    ...{ TARGET_URL: url, TARGET_TOKENS: JSON.stringify(tokens) },
    ...{ TARGET_DOMAIN: domain, TARGET_OTHER_DOMAIN: otherDomain },
  };
  process.exitCode = await runSuite(environment, options.results);
});

function baseUrl(text: string | undefined): string {
  if (!text) throw new UsageError('--url is required.');
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol)) throw new UsageError(`--url is ${JSON.stringify(text)}; expected https://...`);
  return text.replace(/\/+$/, '');
}

type Tokens = Partial<Record<Person, string>> & { administrator: string; cvm: string };

function tokensByPerson(given: string[]): Tokens {
  const tokens: Partial<Record<Person, string>> = {};
  for (const text of given) {
    const [, name = 'administrator', token = ''] = /^(?:(\w+)=)?(.+)$/s.exec(text) ?? [];
    const person = persons.find((known) => known === name);
    if (!person) throw new UsageError(`--token names ${name}; expected one of ${persons.join(' ')}.`);
    if (!isJwt(token)) throw new UsageError(`The token of the ${name} is no JWT.`);
    tokens[person] = token;
  }
  const { administrator } = tokens;
  if (administrator === undefined) throw new UsageError("--token is required: an administrator's.");
  return { cvm: administrator, ...tokens, administrator };
}

function isJwt(token: string): boolean {
  try {
    return token.split('.').length === 3 && typeof claimsOf(token)['sub'] === 'string';
  } catch {
    return false;
  }
}

interface Membership {
  domain: string;
  role: string;
}

/** The memberships that a token names, in whichever claim. */
function membershipsOf(token: string): Membership[] {
  if (token === '') return [];
  const texts = Object.values(claimsOf(token))
    .flat()
    .filter((value) => typeof value === 'string');
  return texts.flatMap((text) => {
    const [, domain, role] = /^([A-Za-z0-9_-]{1,64}):(\w+)$/.exec(text) ?? [];
    return domain !== undefined && role !== undefined && Object.hasOwn(roles, role) ? [{ domain, role }] : [];
  });
}

function domainOf(token: string): string {
  const administered = membershipsOf(token).filter(({ role }) => role === 'administrator');
  const [first, ...more] = administered;
  if (first && more.length === 0) return first.domain;
  throw new UsageError(`The administrator's token names ${administered.length} domains to administer; say --domain.`);
}

/** @throws Error saying why the suite could not do anything there */
async function checkStage(url: string, domain: string, tokens: Tokens): Promise<void> {
  const statusOf = async (path: string, token?: string) => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    return await fetch(url + path, { headers }).then(
      (response) => response.status,
      (error: unknown) => `nothing (${String(error instanceof Error ? (error.cause ?? error) : error)})`,
    );
  };
  const expectOk = async (what: string, path: string, token?: string) => {
    const status = await statusOf(path, token);
    if (status !== 200) throw new Error(`${what}: GET ${url}${path} answered ${status}, not 200.`);
  };
  await expectOk('The service is not there', '/health');
  await expectOk("The administrator's token is not accepted", `/${domain}/computations?limit=1`, tokens.administrator);
  await expectOk('No token is accepted as a CVM', `/${domain}/cvms/end-to-end/commands`, tokens.cvm);
}

/** One file after the other: they share the domain, and count what is in it. */
function runSuite(environment: Record<string, string>, results: string | undefined): Promise<number> {
  const vitest = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs');
  const options = ['--no-file-parallelism', '--testTimeout=120000', '--reporter=verbose'];
  if (results !== undefined) options.push('--reporter=json', `--outputFile.json=${resolvePath(results)}`);
  const run = spawn(process.execPath, [vitest, 'run', 'test/e2e', ...options], {
    cwd: new URL('..', import.meta.url),
    env: { ...process.env, ...environment },
    stdio: 'inherit',
  });
  return new Promise((resolve, reject) => run.once('error', reject).once('exit', (code) => resolve(code === 0 ? 0 : 1)));
}
