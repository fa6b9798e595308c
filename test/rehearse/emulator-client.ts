import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { text } from 'node:stream/consumers';
import { roles } from 'computation-management-formats/vocabulary';

/** The emulator's endpoint, the file with its self-signed certificate, and the region that it emulates. */
export interface EmulatorAddress {
  endpoint: string;
  certificate: string;
  region: string;
}

interface EmulatorRequest {
  path: string;
  headers?: Record<string, string>;
  body?: string;
  method?: string;
  signal?: AbortSignal;
}

interface EmulatorAnswer {
  status: number;
  headers: Headers;
  text: string;
}

/** Sends a request to the emulator. Uses node:https, because `fetch` cannot be given a certificate at run time. */
export async function askEmulator(
  { endpoint, certificate }: EmulatorAddress,
  { path, headers = {}, body, method = body === undefined ? 'GET' : 'POST', signal }: EmulatorRequest,
): Promise<EmulatorAnswer> {
  const request = httpsRequest(`${endpoint}${path}`, {
    ca: readFileSync(certificate),
    method,
    headers,
    ...(signal ? { signal } : {}),
  });
  request.end(body);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return { status: response.statusCode ?? 0, headers: headersOf(response), text: await text(response) };
}

function headersOf({ headersDistinct }: IncomingMessage): Headers {
  const entries = Object.entries(headersDistinct).map(([name, values = []]): [string, string] => [name, values.join(', ')]);
  return new Headers(entries);
}

/** Returns a `fetch` for clients of the API that the emulator serves. */
export function emulatorFetch(emulator: EmulatorAddress): (request: Request) => Promise<Response> {
  return async (request) => {
    const { pathname, search } = new URL(request.url);
    const body = await request.text();
    const { status, headers, text } = await askEmulator(emulator, {
      path: pathname + search,
      method: request.method,
      headers: Object.fromEntries(request.headers),
      ...(body === '' ? {} : { body }),
      signal: request.signal,
    });
    return new Response(text === '' ? null : text, { status, headers });
  };
}

/** Calls an AWS service by its JSON protocol, as root of the emulator's account. The emulator does not check this signature. */
export async function askJson(emulator: EmulatorAddress, service: string, target: string, input: unknown): Promise<unknown> {
  const credential = `test/20260101/${emulator.region}/${service}/aws4_request`;
  const { status, text: answer } = await askEmulator(emulator, {
    path: '/',
    headers: {
      'content-type': 'application/x-amz-json-1.1',
      'x-amz-target': target,
      authorization: `AWS4-HMAC-SHA256 Credential=${credential}, SignedHeaders=host, Signature=0`,
    },
    body: JSON.stringify(input),
  });
  if (status !== 200) throw new Error(`${target} answered ${status}: ${answer}`);
  return JSON.parse(answer);
}

/** Returns how much of a metric Lambda has counted in the last hours. */
export async function countOf(
  emulator: EmulatorAddress,
  MetricName: string,
  dimensions: Record<string, string>,
): Promise<number> {
  const now = Math.floor(Date.now() / 1_000);
  const { Datapoints } = (await askJson(emulator, 'monitoring', 'GraniteServiceVersion20100801.GetMetricStatistics', {
    Namespace: 'AWS/Lambda',
    MetricName,
    Dimensions: Object.entries(dimensions).map(([Name, Value]) => ({ Name, Value })),
    Statistics: ['Sum'],
    Period: 3_600,
    StartTime: now - 7_200,
    EndTime: now + 60,
  })) as { Datapoints: { Sum: number }[] };
  return Datapoints.reduce((sum, { Sum }) => sum + Sum, 0);
}

/** Returns how often a function was called. The emulator writes a metric of only some calls, and a line of each. */
export async function callsOf(emulator: EmulatorAddress, functionName: string, startTime = 0): Promise<number> {
  const input = { logGroupName: `/aws/lambda/${functionName}`, startTime, filterPattern: '"START RequestId"' };
  const { events } = (await askLogs(emulator, 'FilterLogEvents', input).catch((error: unknown) => {
    if (String(error).includes('ResourceNotFound')) return { events: [] }; // it was never called
    throw error;
  })) as { events: object[] };
  return events.length;
}

/** Returns the lines with a text that the functions logged, from the emulator's CloudWatch Logs. @param startTime default: all */
export async function linesOfFunctions(emulator: EmulatorAddress, text: string, startTime = 0): Promise<string[]> {
  const names: string[] = [];
  for (let nextToken: string | undefined = ''; nextToken !== undefined;) {
    const input = { logGroupNamePrefix: '/aws/lambda/', ...(nextToken === '' ? {} : { nextToken }) };
    const page = (await askLogs(emulator, 'DescribeLogGroups', input)) as {
      logGroups: { logGroupName: string }[];
      nextToken?: string;
    };
    names.push(...page.logGroups.map(({ logGroupName }) => logGroupName));
    ({ nextToken } = page);
  }
  const found = await Promise.all(
    names.map(async (logGroupName) => {
      const input = { logGroupName, startTime, filterPattern: JSON.stringify(text) };
      const { events } = (await askLogs(emulator, 'FilterLogEvents', input)) as { events: { message: string }[] };
      return events.map(({ message }) => message.trim());
    }),
  );
  return found.flat();
}

function askLogs(emulator: EmulatorAddress, operation: string, input: unknown): Promise<unknown> {
  return askJson(emulator, 'logs', `Logs_20140328.${operation}`, input);
}

/** The deployed user pool and its client. */
export interface UserPool {
  id: string;
  clientId: string;
}

/** The domain of the suite, and the domain of its outsider. */
const domains = { own: 'rehearsal', other: 'elsewhere' } as const;

const password = 'Only-4-the-Rehearsal';

/** Creates a user for each role, and an outsider with every role of another domain. Returns their access tokens by name. */
export async function tokensByPerson(emulator: EmulatorAddress, pool: UserPool): Promise<Record<string, string>> {
  const persons = Object.keys(roles).map((role): [string, string[]] => [role, [`${domains.own}:${role}`]]);
  persons.push(['outsider', Object.keys(roles).map((role) => `${domains.other}:${role}`)]);
  const tokens: Record<string, string> = {};
  for (const [person, groups] of persons) {
    await addUser(emulator, pool, person, groups);
    tokens[person] = await signIn(emulator, pool, person);
  }
  return tokens;
}

async function addUser(emulator: EmulatorAddress, pool: UserPool, Username: string, groups: string[]): Promise<void> {
  const ask = (operation: string, fields: Record<string, unknown>) =>
    askCognito(emulator, operation, { UserPoolId: pool.id, ...fields });
  await ask('AdminCreateUser', { Username, MessageAction: 'SUPPRESS' });
  await ask('AdminSetUserPassword', { Username, Password: password, Permanent: true });
  for (const GroupName of groups) {
    await ask('CreateGroup', { GroupName });
    await ask('AdminAddUserToGroup', { Username, GroupName });
  }
}

async function signIn(emulator: EmulatorAddress, pool: UserPool, user: string): Promise<string> {
  const answer = (await askCognito(emulator, 'AdminInitiateAuth', {
    UserPoolId: pool.id,
    ClientId: pool.clientId,
    AuthFlow: 'ADMIN_USER_PASSWORD_AUTH',
    AuthParameters: { USERNAME: user, PASSWORD: password },
  })) as { AuthenticationResult: { AccessToken: string } };
  return answer.AuthenticationResult.AccessToken;
}

function askCognito(emulator: EmulatorAddress, operation: string, input: unknown): Promise<unknown> {
  return askJson(emulator, 'cognito-idp', `AWSCognitoIdentityProviderService.${operation}`, input);
}
