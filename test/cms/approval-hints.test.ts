import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startAnsweringServer, type Answer, type AnsweringServer } from '../support/answering-server.ts';
import { cmsIn } from './fake-terminal.ts';

const idOf = (number: number) => `00000000-0000-8000-8000-${String(number).padStart(12, '0')}`;
const todoOf = (count: number) => ({
  approvals: Array.from({ length: count }, (_, index) => ({
    computation_id: idOf(index),
    name: `Study ${index}`,
    because: ['result consumer'],
    manifest_digest: 'd',
  })),
  keys: [],
  content: [],
});

let server: AnsweringServer;
const asked: string[] = [];
beforeAll(async () => {
  server = await startAnsweringServer();
});
afterAll(() => server.stop());

/** Runs a command against a service that answers by path, after the domain. A path without an answer gets none. */
function cms(answers: Record<string, Answer>, signal = new AbortController().signal) {
  asked.length = 0;
  server.answerWith((request, response) => {
    const path = request.url?.replace(/^\/d1/, '').replace(/\?.*/, '') ?? '';
    asked.push(`${request.method} ${path}`);
    answers[path]?.(request, response);
  });
  const token = `e30.${Buffer.from(JSON.stringify({ sub: 'alice' })).toString('base64url')}.c2ln`;
  return cmsIn('/nowhere', { env: { CMS_SERVER: server.endpoint, CMS_DOMAIN: 'd1', CMS_TOKEN: token }, signal });
}

const json =
  (body: object, status = 200): Answer =>
  (_, response) =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));

const signed = json({ approval: 'all_signed' });

describe('the command that approves', () => {
  it('is listed by cms todo within seconds for ten computations asked at once, and without --sign for one that does not answer', async () => {
    const held: (() => void)[] = [];
    const whenTenAreAsked: Answer = (request, response) => {
      held.push(() => signed(request, response));
      if (held.length === 10) for (const answer of held) answer();
    };
    const computations = Array.from({ length: 10 }, (_, index) => [`/computations/${idOf(index)}`, whenTenAreAsked] as const);
    const { exitCode, stdout } = await cms({ '/todo': json(todoOf(11)), ...Object.fromEntries(computations) })('todo');
    expect(exitCode).toBe(0);
    expect(stdout.split('\n').filter((line) => line.endsWith(' --sign ~/.ssh/id_ed25519'))).toHaveLength(10);
    expect(stdout).toContain(`cms approve ${idOf(10)}\n`);
  });

  it('is not waited for by cms todo after Ctrl-C', async () => {
    const ending = new AbortController();
    const answers = { '/todo': json(todoOf(1)), [`/computations/${idOf(0)}`]: () => ending.abort() };
    const { exitCode, stdout, stderr } = await cms(answers, ending.signal)('todo');
    expect([exitCode, stdout, stderr]).toEqual([130, '', 'Interrupted.\n']);
  });

  it.each([
    ['once', 'an approval', { keys: [], hashes: [], info: ['Approval of alice as result consumer'] }, 1],
    ['not', 'only a key', { keys: ['alice'], hashes: [], info: [] }, 0],
  ])('is %s asked for after a 422 that names %s', async (_, _what, missing_items, times) => {
    const path = `/computations/${idOf(0)}`;
    const incomplete = json({ code: 'incomplete', detail: 'Missing.', missing_items }, 422);
    const given = await cms({ [path]: signed, [`${path}/run`]: incomplete })('run', idOf(0), '--cvm', 'sim-1');
    expect(given.exitCode).toBe(7);
    expect(asked.slice(asked.indexOf(`POST ${path}/run`) + 1)).toEqual(Array.from({ length: times }, () => `GET ${path}`));
    expect(given.stderr.includes('--sign')).toBe(times === 1);
  });
});
