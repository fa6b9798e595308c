import { createClient } from 'computation-management-client';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { evidenceArchive, readArchive } from '../../../../packages/console/evidence/evidence-archive.ts';
import { shownEvents } from '../../../../packages/console/runs/watched-run.ts';
import { cmsIn } from '../../cms/fake-terminal.ts';
import { genuineEvidence, hashOfToken } from '../../verify/genuine-evidence.ts';

describe('the events of a run', () => {
  it('are all shown up to 200, then the latest 200, and all about keys of files', () => {
    const events = Array.from({ length: 1_000 }, (_, index) => ({ event_type: index === 5 ? 'key_released' : 'Running', index }));
    expect(shownEvents(events.slice(800))).toEqual(events.slice(800));
    expect(shownEvents(events)).toEqual([events[5], ...events.slice(800)]);
  });
});

it('saves the attestation tokens that the statement names, and no others', async () => {
  const { statement, keys, events, tokens, signature, key_id, log } = genuineEvidence(2);
  const tokenOf = (content: Uint8Array) => ({
    hash: hashOfToken(content),
    download: { url: `data:application/octet-stream;base64,${Buffer.from(content).toString('base64')}` },
  });
  const found: Record<string, object> = {
    evidence: { statement, signature, key_id, log },
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
  const { statement, signature, key_id, log, keys, events } = genuineEvidence();
  const { name, text, command } = evidenceArchive('r1', {
    evidence: { statement, signature, key_id, log },
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
