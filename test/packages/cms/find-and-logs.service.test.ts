import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startAnsweringServer, type AnsweringServer } from '../../support/answering-server.ts';
import { cmsIn } from './fake-terminal.ts';

const id = '00000000-0001-8000-8000-000000000000';
let server: AnsweringServer;
beforeAll(async () => {
  server = await startAnsweringServer();
});
afterAll(() => server.stop());

/** Runs a command against a service that gives these answers one after the other, then finds nothing, or answers by the address. */
async function cms(answers: object[] | ((url: string) => object), ...args: string[]) {
  const asked: string[] = [];
  server.answerWith((request, response) => {
    asked.push(String(request.url));
    const answer = Array.isArray(answers) ? (answers.shift() ?? { matches: [] }) : answers(String(request.url));
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  });
  const token = `e30.${Buffer.from(JSON.stringify({ sub: 'alice' })).toString('base64url')}.c2ln`;
  const env = { CMS_SERVER: server.endpoint, CMS_DOMAIN: 'd1', CMS_TOKEN: token };
  const { exitCode, stdout, stderr } = await cmsIn('/nowhere', { env, signal: new AbortController().signal })(...args);
  return { exitCode, stdout, stderr, asked };
}

describe('cms find', () => {
  it('prints what the service finds', async () => {
    const matches = [{ kind: 'asset', id, name: 'a.csv', owner: 'bob', matched: 'name' }];
    const found = await cms([{ matches, truncated: true }], 'find', 'a', '--kind', 'asset');
    expect(found).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(`asset  ${id}  bob    a.csv`) });
    expect(found.stderr).toBe('There may be more. Type more of the name, or name a kind or an owner.\n');
    expect(found.asked).toEqual(['/d1/find?q=a&kind=asset&limit=20']);
  });

  it('suggests what begins alike, and marks a name that looks like another', async () => {
    expect((await cms([{ matches: [] }, { matches: [] }], 'find', 'wgaes')).stdout).toBe('Nothing found.\n');
    const matches = ['wages.csv', 'w\u0430ges.csv'].map((name) => ({ kind: 'asset', id, name, owner: 'bob', matched: 'name' }));
    const near = await cms([{ matches: [] }, { matches: matches.slice(0, 1) }], 'find', 'wgaes.csv', '--kind', 'asset');
    expect(near).toMatchObject({ exitCode: 0, stdout: `Nothing found. Did you mean "wages.csv" (${id})?\n` });
    expect(near.asked).toContain('/d1/find?q=wgaes&kind=asset&limit=50');
    expect((await cms([{ matches }], 'find', 'w')).stdout).toMatch(/ wages\.csv\n.* "w\u0430ges\.csv" \(not ASCII: U\+0430\)\n$/);
  });
});

describe('the suggestion of a name', () => {
  it.each([
    ['Readmision after discharge', 'Readmission after discharge', 'after discharge'],
    ['Falls 2026 siet 496', 'Falls 2026 site 496', 'Falls 2026 496'],
    ['Falls 2026 site 4996', 'Falls 2026 site 496', 'Falls 2026 site'],
    ['Fals 2026 stie 12', 'Falls 2026 site 12', 'F 2026 s 12'],
  ])('for %s comes from the index of names, however old its computation is', async (typed, name, found) => {
    const match = { kind: 'computation', id, name, owner: 'bob', matched: 'name' };
    const answer = (url: string) =>
      url.includes('/find') ? { matches: new URL(url, server.endpoint).searchParams.get('q') === found ? [match] : [] } : none;
    const none = { computations: [], limit: 100, offset: 0, total: 0 };
    expect((await cms(answer, 'check', typed)).stderr).toContain(` Did you mean "${name}" (${id})?\n`);
  });

  it('is none of the newest computations, which the index does not have, and says if the service has cut what it found', async () => {
    const row = { kind: 'computation', id, name: 'Wages', owner: 'bob' };
    const computations = { computations: [row], limit: 100, offset: 0, total: 1 };
    const without = await cms((url) => (url.includes('/find') ? { matches: [] } : computations), 'check', 'Wgaes');
    expect(without.stderr).toMatch(/no computation named "Wgaes"\.\n/);
    const cut = (url: string) =>
      url.includes('/find') ? { matches: [row], truncated: url.includes('q=W&') } : { ...computations, computations: [] };
    expect((await cms(cut, 'check', 'Wgaes')).stderr).toContain(`Did you mean "Wages" (${id})? There may be nearer ones.\n`);
  });
});

describe('cms computation list', () => {
  it('says that a user is matched exactly, if --owner finds nothing', async () => {
    const none = { computations: [], limit: 20, offset: 0, total: 0 };
    const { stderr } = await cms([none], 'computation', 'list', '--owner', 'Bob');
    expect(stderr).toBe('A user is matched exactly: type it as cms whoami prints it.\n');
    expect((await cms([none], 'computation', 'list', '--status', 'failed')).stderr).toBe('');
  });
});

describe('cms cvm show --policy', () => {
  it.each([
    ['snp', /Compare[^\n]*\nplatforms:/],
    ['snp-vtpm', /It allows any PCRs[^]*the PCRs that the host likes[^]*\nplatforms:/],
    ['az-tdx-vtpm', /It allows any PCRs[^]*any VM of any Azure customer[^]*\nplatforms:/],
  ])('says what the policy of a machine of %s leaves out', async (platform, said) => {
    const attestation = { platform, verdict: 'verified', measurement: 'ab'.repeat(48), checks: [], tcb: null };
    expect((await cms([{ id: 'cvm-1', attestation }], 'cvm', 'show', 'cvm-1', '--policy')).stdout).toMatch(said);
  });
});

describe('cms cvm show', () => {
  it.each([true, false])('says once until when the collateral of Intel is valid (check passed: %s)', async (passed) => {
    const detail = "Intel's documents are of 2026-05-20T00:00:00Z, valid until 2026-06-20T00:00:00.000Z";
    const checks = [
      { name: 'collateral', passed, detail },
      { name: 'report_data', passed: true, detail: 'right' },
    ];
    const attestation = { platform: 'tdx', verdict: 'verified', verified_at: '2026-06-01T00:00:00.000Z', checks, tcb: null };
    const presence = { state: 'connected', fit: 'ready', agent_state: 'idle', last_seen_at: null };
    const { stdout } = await cms([{ id: 'cvm-1', description: '', presence, attestation }], 'cvm', 'show', 'cvm-1');
    expect(stdout).toMatch(passed ? /\nCollateral +Intel's documents are/ : /\nFailed checks +collateral: Intel's documents are/);
    expect(stdout.split('2026-06-20')).toHaveLength(2);
  });
});

describe('cms logs', () => {
  it('prints all pages of a log, and no escape of a line', async () => {
    const line = (message: string) => ({ time: '2026-01-01T00:00:00.000Z', level: 'info', message });
    const pages = [
      { logs: [line('a')], next: '1' },
      { logs: [], next: '2' },
      { logs: [line('b\u001b[2J')], next: '3' },
      { logs: [], next: '3' },
    ];
    const { stdout, asked } = await cms(pages, 'logs', id, '--level', 'info');
    expect(stdout).toBe('2026-01-01T00:00:00.000Z  info   a\n2026-01-01T00:00:00.000Z  info   b [2J\n');
    const { stdout: inJson } = await cms(
      [
        { logs: [line('a')], next: '1' },
        { logs: [], next: '1' },
      ],
      'logs',
      id,
      '--json',
    );
    expect(JSON.parse(inJson)).toEqual({ items: [line('a')] });
    expect(asked.map((url) => new URL(url, 'http://a').searchParams.get('after'))).toEqual(['', '1', '2', '3']);
  });
});

describe('cms runs', () => {
  it('names the computations', async () => {
    const run = { id: 'r1', computation_id: id, cvm_id: 'c', status: 'completed', started_at: '', started_by: 'alice' };
    const page = { limit: 20, offset: 0, total: 1 };
    const { stdout } = await cms(
      [
        { runs: [run], ...page },
        { computations: [{ id, name: 'A study' }], ...page },
      ],
      'runs',
    );
    expect(stdout).toMatch(/^RUN +COMPUTATION +CVM.*\nr1 +A study +c /);
  });
});

describe('a list', () => {
  const event = { id, details: btoa('{"reason":"Over, \\"and\\" out"}'), originator: '=1+1', event_type: '-x', n: -1, at: ' @a' };
  const events = { events: [event, { id, originator: '\uff1d2\n', hash: [1, 255] }], limit: 20, offset: 0, total: 2 };

  it('is items and a total in JSON, with decoded details and hashes in hex', async () => {
    expect(JSON.parse((await cms([events], 'events', id, '--json')).stdout)).toEqual({
      items: [
        { ...event, details: { reason: 'Over, "and" out' } },
        { id, originator: '\uff1d2\n', hash: '01ff' },
      ],
      total: 2,
    });
  });

  it('is CSV that no spreadsheet takes for formulas', async () => {
    const lines = [
      'id,details,originator,event_type,n,at,hash',
      `${id},"{""reason"":""Over, \\""and\\"" out""}",'=1+1,'-x,-1,' @a,`,
      `${id},,"'\uff1d2\n",,,,01ff`,
      '',
    ];
    expect((await cms([events], 'events', id, '--csv')).stdout).toBe(lines.join('\r\n'));
  });
});
