import { createClient } from 'computation-management-client';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { readRows } from '../../../../packages/console/runs/computation-rows.ts';
import { evidenceArchive, readArchive } from '../../../../packages/console/evidence/evidence-archive.ts';
import { gather, shownEvents } from '../../../../packages/console/runs/watched-run.ts';
import { cmsIn } from '../../cms/fake-terminal.ts';
import { genuineEvidence, hashOfToken } from '../../verify/genuine-evidence.ts';

describe('the events of a run', () => {
  it('are passed on together, at the latest 100 ms after the first of them', () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const passed: number[][] = [];
    const { add } = gather<number>((entries) => passed.push(entries));
    for (let event = 0; event < 1_000; event++) add(event);
    expect(passed).toEqual([]);
    vi.advanceTimersByTime(100);
    expect(passed.map(({ length }) => length)).toEqual([1_000]);
    add(1_000);
    vi.advanceTimersByTime(100);
    expect(passed[1]).toEqual([1_000]);
  });

  it('are passed on at once when the screen must show them, and no event twice', () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const passed: number[][] = [];
    const { add, flush } = gather<number>((entries) => passed.push(entries));
    add(1);
    flush();
    flush();
    vi.advanceTimersByTime(100);
    expect(passed).toEqual([[1]]);
  });

  it('are all shown up to 200, then the latest 200, unless the user asks for all', () => {
    const events = Array.from({ length: 1_000 }, (_, index) => index);
    expect(shownEvents(events.slice(0, 200), false)).toMatchObject({ shown: { length: 200 }, hidden: 0 });
    expect(shownEvents(events, false)).toEqual({ shown: events.slice(800), hidden: 800 });
    expect(shownEvents(events, true)).toEqual({ shown: events, hidden: 0 });
  });
});

const answers: Record<string, () => Response> = {
  read: () => Response.json({ name: 'Incomes' }),
  deleted: () => Response.json({ code: 'not_found', detail: 'No such computation.' }, { status: 404 }),
  hidden: () => Response.json({ code: 'forbidden', detail: 'Requires the role viewer.' }, { status: 403 }),
  broken: () => Response.json({ code: 'internal', detail: 'It broke.' }, { status: 500 }),
  garbled: () => new Response('{', { headers: { 'content-type': 'application/json' } }),
  unsent: () => {
    throw new TypeError('Failed to fetch');
  },
};

it('reads the row of each computation once, remembers those that are not there, and leaves out those that could not be read', async () => {
  const asked: string[] = [];
  const client = createClient({
    baseUrl: 'http://localhost',
    domain: 'd1',
    token: 'token',
    retry: { attempts: 1 },
    fetch: async ({ url }) => {
      const id = new URL(url).pathname.split('/').at(-1) ?? '';
      asked.push(id);
      return answers[id]?.() ?? Response.error();
    },
  });
  const ids = Object.keys(answers);
  const rows = await readRows(client, [...ids, 'read'], new AbortController().signal);
  expect(Object.fromEntries(rows)).toEqual({ read: { name: 'Incomes' }, deleted: null, hidden: null });
  expect(asked).toEqual(ids);
});

it('saves the attestation tokens that the statement names, and no others', async () => {
  const { statement, keys, events, tokens, signature, key_id } = genuineEvidence(2);
  const tokenOf = (content: Uint8Array) => ({
    hash: hashOfToken(content),
    download: { url: `data:application/octet-stream;base64,${Buffer.from(content).toString('base64')}` },
  });
  const found: Record<string, object> = {
    evidence: { statement, signature, key_id, log: null },
    'jwks.json': keys,
    attestation: { tokens: [...tokens, Buffer.from('late')].map(tokenOf) },
    events: { events, limit: 100, offset: 0, total: events.length },
  };
  const client = createClient({
    baseUrl: 'http://localhost',
    domain: 'd1',
    token: 'token',
    fetch: async ({ url }) => Response.json(found[new URL(url).pathname.split('/').at(-1) ?? '']),
  });
  const { text } = await readArchive(client, { id: 'c1', run: 'r1' });
  expect(JSON.parse(text)).toMatchObject({ tokens: tokens.map((token) => Buffer.from(token).toString('base64')) });
});

it('the command that the console names checks the files that it saves', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'evidence-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const { statement, signature, key_id, keys, events } = genuineEvidence();
  const { name, text, command } = evidenceArchive('r1', {
    evidence: { statement, signature, key_id, log: null },
    keys,
    events: events.toReversed(),
    tokens: [],
  });
  writeFileSync(join(directory, name), text);
  const [program, ...args] = command.split(' ').map((word) => (word.endsWith('.json') ? join(directory, word) : word));
  expect(program).toBe('cms');
  const { exitCode, stdout, stderr } = await cmsIn(directory)(...args);
  expect(stderr).toBe('');
  expect(exitCode).toBe(3); // no token is in the file, and the run has an attestation policy
  expect(stdout).toContain('HOLDS');
  expect(stdout).toContain('NOT CHECKED    Not all tokens were checked');
  expect(stdout).not.toContain('were not given');

  const tamperings = [
    ['"run_id"', '"run_id": "r2", "run_id"', /two values named "run_id"/],
    ['"status": "completed"', '"status": "failed"', /DOES NOT HOLD/],
    ['"signature": "', '"signature": "A', /DOES NOT HOLD/],
  ] as const;
  for (const [genuine, forged, expected] of tamperings) {
    expect(text).toContain(genuine);
    writeFileSync(join(directory, name), text.replace(genuine, forged));
    const answer = await cmsIn(directory)('verify', join(directory, name));
    expect(answer.exitCode).toBe(expected.source === 'DOES NOT HOLD' ? 1 : 2);
    expect(answer.stdout + answer.stderr).toMatch(expected);
  }
});
