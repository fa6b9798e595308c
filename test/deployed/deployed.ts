import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join, resolve as resolvePath } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { roles } from 'computation-management-formats/vocabulary';
import { isMain, parseOptions, runCommand, UsageError } from '../../shared/command-line/arguments.ts';
import { claimsOf, type Person } from '../support/target.ts';

const persons = [...Object.keys(roles), 'outsider'] as Person[];

const usage = `Usage: npm run test:deployed -- --url URL --token TOKEN [--token NAME=TOKEN ...] [--domain DOMAIN] [--results FILE] [--stage STAGE]

Runs the end-to-end suite against a deployed stage, over HTTP only. It deletes what it creates, except for the statistics.

  --url     the base URL of the stage
  --token   a bearer token of an administrator who is also a CVM of the domain; with a NAME, the token of another person:
            ${persons.filter((person) => person !== 'administrator').join(' ')}
            (the outsider has every role in another domain, and none in this one)
  --domain  the domain to use (default: the domain that the administrator's token names)
  --results the file for the results of every test, as JSON
  --stage   then also tests what only a stage on AWS shows: an alarm that arrives, task tokens, cold starts, the limit of a domain.
            Uses the credentials of the stage's account. The real targets of the alarm are told too

Tests that need a missing token are skipped and listed. Nobody else should use the domain during the run.
The exit code is 0 if all tests passed, 1 if one failed or the stage does not answer, 2 for a mistake on the command line.`;

export async function deployedCommand(args: string[]): Promise<void> {
  const options = parseOptions(args, {
    url: { type: 'string' },
    token: { type: 'string', multiple: true, default: [] },
    domain: { type: 'string' },
    results: { type: 'string' },
    stage: { type: 'string' },
  });
  const url = baseUrl(options.url);
  const tokens = tokensByPerson(options.token);
  const domain = options.domain ?? domainOf(tokens.administrator);
  const otherDomain = membershipsOf(tokens.outsider ?? '').find((membership) => membership.domain !== domain)?.domain ?? '';
  await checkStage(url, domain, tokens);
  const environment = {
    TARGET_URL: url,
    TARGET_TOKENS: JSON.stringify(tokens),
    TARGET_DOMAIN: domain,
    TARGET_OTHER_DOMAIN: otherDomain,
    TARGET_SINCE: String(Date.now()),
  };
  const results = options.results === undefined ? [] : ['--reporter=json', `--outputFile.json=${resolvePath(options.results)}`];
  const ofSuite = await runTests(['test/e2e', ...results], environment);
  const onAws = ['--config', 'test/deployed/vitest.config.ts'];
  const ofStage = options.stage === undefined ? 0 : await runTests(onAws, { ...environment, TARGET_STAGE: options.stage });
  process.exitCode = Math.max(ofSuite, ofStage);
}

if (isMain(import.meta)) await runCommand(usage, deployedCommand);

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
    if (!isJwt(token)) throw new UsageError(`The token of the ${name} is not a JWT.`);
    tokens[person] = token;
  }
  const { administrator } = tokens;
  if (administrator === undefined) throw new UsageError("--token is required, with an administrator's token.");
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

/** Returns the memberships in any claim of a token. */
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
  throw new UsageError(`The administrator's token names ${administered.length} domains; specify --domain.`);
}

/** Checks that the suite can run. @throws Error with the reason why not */
async function checkStage(url: string, domain: string, tokens: Tokens): Promise<void> {
  const statusOf = async (path: string, token?: string) => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    return await fetch(url + path, { headers }).then(
      (response) => response.status,
      (error: unknown) => `nothing (${String(error instanceof Error ? (error.cause ?? error) : error)})`,
    );
  };
  const expectOk = async (what: string, path: string, token?: string) => {
    let status = await statusOf(path, token);
    for (const end = Date.now() + 60_000; status === 503 && Date.now() < end; status = await statusOf(path, token))
      await delay(2_000);
    const isOfToken = token !== undefined && (status === 401 || status === 403);
    const fault = isOfToken ? what : 'The service does not answer';
    if (status !== 200) throw new Error(`${fault}: GET ${url}${path} answered ${status}, not 200.`);
  };
  await expectOk('The service does not answer', '/health');
  await expectOk("The administrator's token is not accepted", `/${domain}/computations?limit=1`, tokens.administrator);
  await expectOk('No token is accepted as a CVM', `/${domain}/cvms/end-to-end/commands`, tokens.cvm);
}

/** Runs one file after the other, because they share the domain and count what is in it. */
function runTests(words: string[], environment: Record<string, string>): Promise<number> {
  const vitest = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs');
  const options = ['--no-file-parallelism', '--testTimeout=120000', '--reporter=verbose'];
  const run = spawn(process.execPath, [vitest, 'run', ...words, ...options], {
    cwd: new URL('../..', import.meta.url),
    env: { ...process.env, ...environment },
    stdio: 'inherit',
  });
  return new Promise((resolve, reject) => run.once('error', reject).once('exit', (code) => resolve(code === 0 ? 0 : 1)));
}
