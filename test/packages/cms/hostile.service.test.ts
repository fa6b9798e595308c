import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listen } from '../../../local/machine/listen.ts';
import { type Stack, startStack } from '../../../local/stack.ts';
import { createProgram } from '../../../packages/cms/run-cms.ts';
import { amount, sampleSeed } from '../../support/amounts.ts';
import { cmsIn, type Ran } from './fake-terminal.ts';
import { writeSshKeys } from './ssh-keys.ts';

/** Begins a line, writes escapes of 7 and 8 bits, reverses the text, and imitates what `cms` and a verifier print. */
const payload = '\nNext: evil | sh\n\r\u001b[2J\u009b2J\u202e\u2028HOLDS everything\u0007';
const ofOthers = /^[^\S\n]*(?:Next: evil|HOLDS everything)|[^\P{Cc}\n]|[\p{Cf}\p{Zl}\p{Zp}]/mu;

const folder = mkdtempSync(join(tmpdir(), 'hostile-'));
const home = join(folder, 'home');
const file = (name: string) => join(folder, name);
let stack: Stack;
let id: string;
let asset: string;
let run: string;
const elsewhere: string[] = [];
let stopAll: () => Promise<unknown>;
let proxy: { endpoint: string };
let other: { endpoint: string };
type Hostility = (answer: Response, body: Buffer) => { status: number; headers: Record<string, string>; text: string | Buffer };
let hostility: Hostility;

/** Passes a request on to the service, and its answer back as the hostility changes it. */
async function passOn(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = 'GET', url = '/', headers } = request;
  const body = await buffer(request);
  const { host: _, connection: __, 'content-length': ___, 'transfer-encoding': ____, ...passed } = headers;
  const answer = await fetch(`${stack.baseUrl}${url}`, {
    method,
    headers: passed as Record<string, string>,
    ...(body.length > 0 ? { body } : {}),
  });
  const changed = hostility(answer, Buffer.from(await answer.arrayBuffer()));
  response.writeHead(changed.status, changed.headers).end(changed.text);
}

/** Adds the payload to texts of an answer, as the function says for their names. A checkpoint of the log is a `message`. Tiles stay. */
function withPayload(isChanged: (name: string) => boolean): Hostility {
  const inJson = (text: string) =>
    JSON.stringify(
      JSON.parse(text, (name, value: unknown) => (typeof value === 'string' && isChanged(name) ? value + payload : value)),
    );
  const changedBody = (type: string, body: Buffer) => {
    if (body.length === 0 || /^application\/(?:octet-stream|zip)/.test(type)) return body;
    if (type.startsWith('text/plain')) return isChanged('message') ? `${body.toString()}${payload}` : body;
    return inJson(body.toString());
  };
  return ({ status, headers }, body) => {
    const changed = changedBody(headers.get('content-type') ?? '', body);
    const kept = [...headers].filter(
      ([name]) => !['content-length', 'content-encoding', 'transfer-encoding', 'connection'].includes(name),
    );
    return { status, headers: Object.fromEntries(kept), text: changed };
  };
}

const free = [
  'name',
  'description',
  'owner',
  'file_name',
  'created_by',
  'reason',
  'originator',
  'user',
  'message',
  'detail',
  'title',
];
const json = { 'content-type': 'application/problem+json' };
const problem = (status: number, code: string): Hostility => {
  const errors = [`/name${payload}`, '/name', 'constructor'].map((pointer) => ({ pointer, detail: `no${payload}` }));
  const missing_items = { keys: [`a${payload}`], hashes: [`b${payload}`], info: [`Approval of a${payload} for b`, payload] };
  const fields = {
    code,
    detail: `Refused${payload}`,
    reason: `x${payload}`,
    run_id: `r${payload}`,
    manifest_digest: payload,
    request_id: payload,
  };
  return () => ({ status, headers: json, text: JSON.stringify({ ...fields, status, errors, missing_items }) });
};

const hostilities: [string, () => Hostility][] = [
  ['texts', () => withPayload((name) => free.includes(name))],
  ['all texts but identifiers', () => withPayload((name) => !/^$|^id$|_id$|_at$|^timestamp$|^details$|^\d+$/.test(name))],
  ['details of events', () => withPayload((name) => name === 'details')],
  ['all texts', () => withPayload(() => true)],
  ...([400, 409, 422] as const).map((status): [string, () => Hostility] => [
    `a problem of ${status}`,
    () =>
      problem(
        status,
        {
          400: 'invalid_request',
          401: 'unauthenticated',
          403: 'forbidden',
          404: 'not_found',
          409: 'conflict',
          412: 'precondition_failed',
          413: 'too_large',
          422: 'incomplete',
          429: 'constructor',
          500: 'internal',
        }[status],
      ),
  ]),
  ['a message of a gateway', () => () => ({ status: 403, headers: json, text: JSON.stringify({ message: `No${payload}` }) })],
  ['no JSON', () => () => ({ status: 200, headers: {}, text: payload })],
  ['a page', () => () => ({ status: 404, headers: {}, text: `<h1>${payload}` })],
  ...([307] as const).map((status): [string, () => Hostility] => [
    `a redirect with ${status}`,
    () => () => ({ status, headers: { location: `${other.endpoint}/stolen` }, text: '' }),
  ]),
];

/** The command lines that reach a service, by their command. */
const lines = (): Record<string, string[]> => ({
  init: [file('study.yaml'), '--yes'],
  todo: [],
  'computation list': ['--limit', '5'],
  'asset add': ['https://files.example.com/a', '--type', 'dataset', '--checksum', 'ab'.repeat(32)],
  'computation create': ['Another'],
  'computation show': [id],
  'computation update': [id, '--description', 'new'],
  'computation delete': ['00000000-0000-8000-8000-000000000000', '--yes'],
  'computation use': [id],
  'asset upload': [file('data.csv'), '--type', 'dataset'],
  'asset declare': [file('data.csv'), '--type', 'dataset'],
  export: [id],
  'key add': [join(home, '.ssh/id_ed25519.pub'), '--yes'],
  'cvm register': ['cvm-1', '--description', 'd'],
  'asset list': [],
  'asset show': [asset],
  'asset download': [asset, '--output', file('copy.csv')],
  'asset link': [asset, id],
  'asset unlink': [asset, id],
  'asset key set': [asset, '--key', file('secret'), '--key-held', 'party'],
  'asset key show': [asset],
  'asset key remove': [asset],
  'asset delete': ['00000000-0000-8000-8000-000000000000', '--yes'],
  'key upload': [join(home, '.ssh/id_ed25519.pub'), id],
  'key remove': [id],
  'key show': [id],
  check: [id],
  manifest: [id],
  approve: [id, '--yes'],
  approvals: [id],
  refuse: [id, '--reason', 'Not now.'],
  withdraw: [id, '--yes'],
  run: [id, '--cvm', 'sim-1'],
  watch: [id, '--run', run],
  stop: [id],
  runs: [id],
  events: [id],
  logs: [id, '--run', run],
  find: ['penguins'],
  status: [],
  doctor: [],
  evidence: [id, '--output', file('evidence')],
  send: [file('data.csv'), '--computation', id, '--key', join(home, '.ssh/id_ed25519'), '--unbound'],
  result: [id, '--key', join(home, '.ssh/id_ed25519'), '--output', file('result.zip'), '--unbound'],
  review: [id, '--file', file('data.csv'), '--release', '--yes'],
  attest: ['--computation', id],
  broker: ['--trust-service-for-manifest'],
  'log check': [],
  'cvm list': [],
  'cvm show': ['cvm-1'],
});
const withoutService = ['encrypt', 'key create', 'login', 'logout', 'whoami', 'verify'];

beforeAll(async () => {
  stack = await startStack({ port: 0, simulator: true });
  const [one, two] = [
    await listen(
      createServer((request, response) => void passOn(request, response)),
      0,
    ),
    await listen(
      createServer((request, response) => {
        elsewhere.push(`${request.method ?? ''} ${request.url ?? ''}`);
        response.end('{}');
      }),
      0,
    ),
  ];
  [proxy, other] = [one, two];
  stopAll = () => Promise.all([one.stop(), two.stop(), stack.stop()]);
  mkdirSync(home);
  writeSshKeys(home);
  writeFileSync(file('secret'), Buffer.alloc(32, 7).toString('base64'));
  for (const name of ['mean.py', 'data.csv']) writeFileSync(file(name), `${name}\n`);
  writeFileSync(file('data.key'), Buffer.alloc(32, 'k').toString('base64'));
  writeFileSync(
    file('study.yaml'),
    `computation: { name: Study, owner: alice }
parties:
  alice:
    key: ~/.ssh/id_ed25519.pub
    assets: [{ file: mean.py, type: algorithm }, { file: data.csv, type: dataset, use: open }]
`,
  );
  hostility = withPayload(() => false);
  const cms = cmsIn(home, { env: await environment() });
  const done = JSON.parse((await cms('init', file('study.yaml'), '--yes', '--json')).stdout) as { computation: string };
  id = done.computation;
  const { items } = JSON.parse((await cms('asset', 'list', '--json')).stdout) as { items: { id: string }[] };
  asset = items[0]?.id ?? '';
  ({ run } = JSON.parse((await cms('run', id, '--cvm', 'sim-1', '--json')).stdout) as { run: string });
  expect(await cms('watch', id, '--run', run)).toMatchObject({ exitCode: 0 });
  expect(await cms('evidence', id, '--run', run, '--output', file('genuine'))).toMatchObject({ exitCode: 0 }); // shows the log
});
afterAll(async () => {
  await stopAll();
  rmSync(folder, { recursive: true });
});

async function environment(): Promise<Record<string, string>> {
  const CMS_TOKEN = await stack.token('alice', ['d1:administrator']);
  return { CMS_SERVER: proxy.endpoint, CMS_DOMAIN: 'd1', CMS_TOKEN };
}

type Command = ReturnType<typeof createProgram>;

function leavesOf(command: Command, path: string[] = []): string[] {
  if (command.commands.length === 0) return [path.join(' ')];
  return command.commands.flatMap((each) => leavesOf(each, [...path, each.name()]));
}

/** The options for the two forms of output. In a sample, a command has one of them at each third hostility, and the other at the next third. */
function formsAt(turn: number): string[][] {
  const [text, json] = [[], ['--json']];
  return amount({ sample: [[text], [], [], [json], [], []][(turn + sampleSeed) % 6] ?? [], full: [text, json] });
}

function expectOwn(name: string, { stdout, stderr }: Ran): void {
  for (const output of [stdout, stderr])
    expect([name, ofOthers.exec(output)?.[0], output.slice(0, 400)]).toEqual([name, undefined, expect.anything()]);
}

describe('a hostile service', () => {
  it('is tried with every command', () => {
    const commands = leavesOf(createProgram('0.1.0', () => async () => undefined)).filter((each) => !each.endsWith('help'));
    expect(Object.keys(lines()).sort()).toEqual(commands.filter((each) => !withoutService.includes(each)).sort());
  });

  it.each(hostilities.map(([title, make], place) => [title, make, place] as const))(
    'that answers %s writes no line and no escape of its own',
    async (_, make, place) => {
      const env = await environment();
      for (const [index, [command, args]] of Object.entries(lines()).entries()) {
        for (const options of formsAt(place + index)) {
          hostility = make();
          const ending = new AbortController();
          const timer = setTimeout(() => ending.abort(), 500);
          const ran = await cmsIn(home, { env, signal: ending.signal, columns: 80, colours: false })(
            ...command.split(' '),
            ...args,
            ...options,
          );
          clearTimeout(timer);
          expectOwn(`${command} ${options.join('')}`, ran);
        }
      }
      expect(elsewhere).toEqual([]);
    },
  );
});
