import { createPublicKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readLog, waitForRun } from 'computation-management-client';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { checkEvidence, type FilesOfTest } from '../packages/verify/check-by-test-roots.ts';
import { UnreadableError } from '../../packages/verify/evidence-files.ts';
import type { Finding } from '../../packages/verify/index.ts';
import { filesOf, genuineEvidence } from '../packages/verify/genuine-evidence.ts';
import { lie } from '../packages/verify/lies.ts';
import { genuineFiles, tamper } from '../packages/verify/tamperings.ts';
import { amount, sampleSeed } from '../support/amounts.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { type ConsoleWorld, violationsOn } from './console-world.ts';
import { arrive } from './party.ts';
import { clientOf, readyComputation } from './seed.ts';

/** An expression: has the browser know other entries of each run than the log shows. */
const otherEntries = `for (const name of Object.keys(localStorage).filter((each) => each.startsWith('console.log.'))) {
  const kept = JSON.parse(localStorage[name]);
  for (const tag in kept.tags) kept.tags[tag] += 1;
  localStorage[name] = JSON.stringify(kept);
}`;

const judgements = amount({ sample: 12, full: 1_000 });

export function tellOfTheVerifier(world: () => ConsoleWorld): void {
  describe('verifying evidence', () => {
    it('judges a run from its page, a log that goes back or has a second entry, and the saved file where nobody is signed in, by keyboard, without sending anything', async () => {
      const { id } = await readyComputation(world(), 'Verified here');
      const client = await clientOf(world(), 'alice', ['d1:administrator']);
      const checkpoint = async () => new TextDecoder().decode(await readLog('checkpoint', { baseUrl: world().stack.baseUrl }));
      const before = await checkpoint();
      const run = await client.startRun({ id, cvm: 'sim-verified-here' });
      await waitForRun(client, { id, run });
      const { page } = await arrive(world(), { user: 'alice', roles: ['runner'], path: `computations/${id}/runs/${run}` });
      const saved = page.waitForEvent('download');
      await page.getByRole('button', { name: 'Download evidence' }).click();
      const file = readFileSync(await (await saved).path(), 'utf8');
      await page.getByRole('link', { name: 'Verify this run' }).click();
      await page
        .getByText(/^Everything that was checked holds \(\d+ notes\)\.$/)
        .first()
        .waitFor();
      const held = page.getByRole('list', { name: 'Holds', exact: true });
      await held.getByText(`All parts are about the run "${run}"`).waitFor();
      expect(await violationsOn(page)).toEqual([]);

      const after = await checkpoint();
      await page.route('**/log/checkpoint', (route) => route.fulfill({ body: before }));
      const alarm = page.waitForEvent('download');
      await page.reload();
      await page.getByRole('list', { name: 'Does not hold', exact: true }).getByText('went back. It was').waitFor();
      const contradiction = readFileSync(await (await alarm).path(), 'utf8');
      expect((await alarm).suggestedFilename()).toMatch(/^log-alarm-.*\.txt$/);
      for (const each of [before, after]) expect(contradiction).toContain(each);
      expect(await violationsOn(page)).toEqual([]);

      await page.unroute('**/log/checkpoint');
      await page.evaluate(otherEntries);
      const second = page.waitForEvent('download');
      await page.reload();
      await page.getByRole('list', { name: 'Does not hold', exact: true }).getByText('has two entries of').waitFor();
      await second;

      await page.getByRole('button', { name: 'Help', exact: true }).click();
      const opened = page.context().waitForEvent('page');
      await page.getByRole('menuitem', { name: 'Verify evidence' }).click();
      await (await opened).close();
      const stranger = await world().openTab({ width: 360, height: 800, colorScheme: 'dark' });
      await stranger.goto('/console/verify');
      await stranger.getByRole('heading', { name: 'Verify evidence', level: 1 }).waitFor();
      expect(await violationsOn(stranger)).toEqual([]);
      const sent: string[] = [];
      stranger.on('request', (request) => request.method() !== 'GET' && sent.push(request.url()));
      await choose(stranger, 'Evidence', file);
      await stranger
        .getByText(/^Everything that was checked holds/)
        .first()
        .waitFor();
      await stranger.getByText('The keys were saved with the evidence.').waitFor();
      const jwks = JSON.stringify(await client.jwks());
      await choose(stranger, 'Public keys of the service - optional', jwks);
      await stranger.getByText('The keys were saved with the evidence.').waitFor({ state: 'hidden' });
      await stranger
        .getByText(/^Everything that was checked holds/)
        .first()
        .waitFor();
      expect(await violationsOn(stranger)).toEqual([]);
      expect(await stranger.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);

      await choose(stranger, 'Evidence', file.replace('"status": "completed"', '"status": "cancelled"'));
      await stranger.getByText('Do not rely on this evidence.').first().waitFor();
      const wrong = stranger.getByRole('list', { name: 'Does not hold' });
      await wrong.getByText('The signature does not fit the statement').waitFor();
      expect(await violationsOn(stranger)).toEqual([]);
      await choose(stranger, 'Evidence', file, { name: '\u202Enosj.txt' });
      await stranger.getByText('‹U+202E›nosj.txt').waitFor();
      expect(sent).toEqual([]);
    });

    it('says in a sentence what it cannot judge: another file, one that is too large, and one that takes too long', async () => {
      const page = await world().openTab();
      await page.clock.install();
      await page.goto('/console/verify');
      await choose(page, 'Evidence', '{');
      await page.getByText('The evidence is not JSON').first().waitFor();
      await choose(page, 'Evidence', `${'['.repeat(200_000)}${']'.repeat(200_000)}`);
      await page.getByText('Nothing was checked').first().waitFor();
      await choose(page, 'Evidence', '[]');
      await page.getByText('This is no evidence file.').first().waitFor();
      await page.evaluate(`{
        const file = new File([new Uint8Array(65e6)], 'large.json');
        const data = new DataTransfer();
        data.items.add(file);
        const input = document.querySelector('input[type=file]');
        input.files = data.files;
        input.dispatchEvent(new Event('change', { bubbles: true }));
      }`);
      await page.getByText('this page reads up to 64 MB').first().waitFor();

      const { statement, signature, key_id, log, keys } = genuineEvidence();
      const approvals = Array.from({ length: 250 }, (_, each) => ({
        ...(statement['approvals'] as object[])[0],
        user: `user-${each}`,
        key: longKey(each),
      }));
      const endless = {
        evidence: { statement: { ...statement, approvals }, signature, key_id, log },
        keys,
        events: { events: [] },
        tokens: [],
      };
      await choose(page, 'Evidence', JSON.stringify(endless));
      await page.getByText('checking the evidence').waitFor();
      await page.clock.fastForward(61_000);
      await page.getByText('The check took more than 60 seconds').first().waitFor();
      await choose(page, 'Evidence', '[]');
      await page.getByText('This is no evidence file.').first().waitFor();
    });

    it(`trusts a root that is given for tests, and says of tampered and lying evidence what the command says (seed ${sampleSeed})`, async () => {
      const page = await world().openTab();
      await page.goto('/console/verify');
      const workers: string[] = [];
      page.on('request', (request) => request.url().includes('verify-worker') && workers.push(request.url()));
      await choose(page, 'Evidence', '{}');
      await page.getByText('Nothing was checked').first().waitFor();
      const random = seededRandom(sampleSeed);
      const genuine = genuineEvidence();
      const files: FilesOfTest[] = [
        ...genuineFiles(genuine),
        filesOf(genuineEvidence(3, { level: 'all_signed' })),
        ...Array.from({ length: judgements }, () => tamper(genuine, random).files),
        ...Array.from({ length: judgements }, () => lie(random).files),
      ];
      const { statement, signature, key_id, log, keys, before, events } = genuine;
      const { tokens, roots } = filesOf(genuine);
      const archive = {
        evidence: { statement, signature, key_id, log },
        keys,
        events: { events: [...before, ...events].toReversed() },
        tokens: tokens.map((token) => Buffer.from(token).toString('base64')),
      };
      await choose(page, 'Evidence', JSON.stringify(archive));
      await page.getByText('Do not rely on this evidence.').first().waitFor(); // its root is none of AMD
      await choose(page, 'Root certificates for tests - optional', roots[0] ?? '');
      await page.getByText('Other roots than those of AMD and Intel were trusted').waitFor();
      await page
        .getByText(/^Everything that was checked holds/)
        .first()
        .waitFor();
      const expected = [];
      for (const each of files) expected.push(await sentencesOf(each));
      const found = await page.evaluate<Judged[]>(`(${judgeAll})(${JSON.stringify([workers[0], files.map(asText)])})`);
      // The two looked at the clock at different times.
      const withoutNow = (all: unknown) =>
        JSON.parse(JSON.stringify(all).replace(/as of now, [\d-]+T[\d:.]+Z/g, 'as of now')) as unknown;
      expect(withoutNow(found.map(({ findings, problem }) => findings ?? problem))).toEqual(withoutNow(expected));
    });
  });
}

/** Chooses a file with the keyboard. */
async function choose(page: Page, label: string, content: string | Uint8Array, { name = 'evidence.json' } = {}): Promise<void> {
  const chooser = page.waitForEvent('filechooser');
  await page.getByLabel(`Choose: ${label}`).press('Enter');
  await (await chooser).setFiles({ name, mimeType: 'application/json', buffer: Buffer.from(content) });
}

/** A key of 8,176 bits, whose modulus has no factor that is found at once. It takes the verifier half a second. @param number below 500 */
function longKey(number: number): string {
  const modulus = 65_539n ** BigInt(number) * 65_543n ** BigInt(511 - number);
  const n = Buffer.from(modulus.toString(16), 'hex').toString('base64url');
  return createPublicKey({ key: { kty: 'RSA', n, e: 'AQAB' }, format: 'jwk' })
    .export({ format: 'der', type: 'spki' })
    .toString('base64');
}

type Judged = { findings?: Finding[]; problem?: string };

async function sentencesOf(files: FilesOfTest): Promise<Finding[] | string> {
  try {
    return await checkEvidence(files);
  } catch (error) {
    if (error instanceof UnreadableError) return error.message;
    throw error;
  }
}

const asText = ({ tokens = [], roots = [], ...files }: FilesOfTest) => ({
  ...files,
  tokens: tokens.map((bytes) => Buffer.from(bytes).toString('base64')),
  roots: roots.map((bytes) => Buffer.from(bytes).toString('base64')),
});

/** A function of the page that asks the worker of its verifier about each of the files. */
const judgeAll = `async ([url, all]) => {
  const worker = new Worker(url, { type: 'module' });
  const bytesOf = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const judged = [];
  for (const files of all) {
    const { promise, resolve } = Promise.withResolvers();
    worker.onmessage = ({ data }) => resolve(data);
    const roots = files.roots.length > 0 ? { roots: files.roots.map(bytesOf) } : {};
    worker.postMessage({ ...files, tokens: files.tokens.map(bytesOf), roots: undefined, ...roots });
    judged.push(await promise);
  }
  return judged;
}`;
