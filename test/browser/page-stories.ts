import type { Schemas } from 'computation-management-client';
import { expect, it } from 'vitest';
import { type ConsoleWorld, violationsOn } from './console-world.ts';
import { nameOfFocus } from './focus.ts';
import { arrive } from './party.ts';
import { clientOf, readyComputation } from './seed.ts';

/** Stories about the page of a computation: its people before they act, and the machine that it waits for. */
export function tellOfThePage(world: () => ConsoleWorld): void {
  it('shows those whom a computation only names, with a text to invite them, and who refuses and why', async () => {
    const alice = await clientOf(world(), 'alice', ['d1:administrator']);
    const { id } = await readyComputation(world(), 'With guests');
    await alice.updateComputation({ id, body: { name: 'With guests', providers: ['bob', 'carol'], consumers: ['dave'] } });
    const bob = await clientOf(world(), 'bob', ['d1:dataset_provider']);
    await bob.approve({ id, body: { decision: 'refuse', reason: 'The board has not met.' } });
    const { page } = await arrive(world(), { user: 'alice', roles: ['administrator'], path: `computations/${id}` });
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const people = page.getByRole('table', { name: 'People' });
    const row = (user: string) => people.getByRole('row').filter({ hasText: user });
    await row('carol').getByText('invited').waitFor();
    await row('carol').getByText('A file, not linked yet').waitFor();
    await row('dave').getByText('Receives the results').waitFor();
    await row('bob').getByText('The board has not met.').waitFor();
    expect(await row('bob').getByText('invited').count()).toBe(0);
    await row('carol').getByRole('button', { name: 'Copy invitation for carol' }).click();
    await row('carol').getByText('Copied').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(
      `alice invites you to the computation "With guests".\nExpected of you: upload your file to it, and your public key.\n` +
        `Sign in as carol: ${new URL(page.url()).origin}/console/domains/d1/computations/${id}\n`,
    );
    expect(await violationsOn(page)).toEqual([]);
  });

  it('makes a policy of a verified machine or of typed measurements, and waits for a machine, saying both measurements', async () => {
    const { id } = await readyComputation(world(), 'On chosen machines');
    const client = await clientOf(world(), 'alice', ['d1:administrator']);
    await client.registerCvm({ cvmID: 'cvm-proven', body: { description: '' } });
    const { page, open } = await arrive(world(), { user: 'alice', roles: ['administrator'], provokes: /status of 400/ });
    // No CVM of the browser's tests attests.
    const attestation: NonNullable<Schemas['Cvm']['attestation']> = {
      platform: 'snp',
      verdict: 'verified',
      verified_at: '2025-07-17T08:00:00.000Z',
      measurement: 'ab'.repeat(48),
      tcb: { bootloader: 4, tee: 0, snp: 24, microcode: 219 },
      token_hash: '0'.repeat(64),
      connection: 'attested',
      checks: [
        { name: 'debug', passed: true, detail: 'the host may not debug the guest' },
        { name: 'vmpl', passed: true, detail: 'the guest asked for the report at privilege level 0' },
      ],
    };
    const presence = { state: 'connected', fit: 'ready', agent_state: null, last_seen_at: null };
    await page.route(/\/cvms\?/, async (route) => {
      const answer = await route.fetch();
      const { cvms, ...rest } = (await answer.json()) as { cvms: Schemas['Cvm'][] };
      const changed = cvms.map((cvm) => (cvm.id === 'cvm-proven' ? { ...cvm, attestation, presence } : cvm));
      await route.fulfill({ response: answer, json: { ...rest, cvms: changed } });
    });
    await page.route(/\/cvms\/cvm-proven$/, async (route) => {
      const answer = await route.fetch();
      await route.fulfill({ response: answer, json: { ...((await answer.json()) as Schemas['Cvm']), attestation, presence } });
    });
    await open('cvms/cvm-proven');
    await page.getByText('bootloader 4, tee 0, snp 24, microcode 219').waitFor();
    await open(`computations/${id}/edit`);
    await page.getByRole('radio', { name: 'Only machines that prove what they run' }).check();
    const typed = page.getByRole('textbox', { name: 'Measurements' });
    await typed.fill('abab');
    await page.getByText('A measurement has 96 hex digits: get it whole').first().waitFor();
    await page.getByRole('button', { name: 'Save changes' }).click();
    await page.getByText('Choose at least one platform').first().waitFor();
    await page.getByRole('checkbox', { name: /^az-snp-vtpm/ }).check();
    await page.getByText('any VM of any Azure customer').first().waitFor();
    await page.getByRole('checkbox', { name: /^az-snp-vtpm/ }).uncheck();
    await page.getByRole('checkbox', { name: /^snp\b(?!-)/ }).check();
    await typed.fill('CD'.repeat(48));
    await page.getByRole('button', { name: 'Versions, levels and exceptions' }).click();
    await page.getByText('Nothing proves that the same machine goes on.').first().waitFor();
    await page.getByRole('textbox', { name: 'Result consumers (optional)' }).fill('al ice');
    await page.getByText('has a space in it').first().waitFor();
    await page.getByRole('textbox', { name: 'Result consumers (optional)' }).fill('');
    expect(await violationsOn(page)).toEqual([]);
    await page.getByRole('button', { name: 'Save changes' }).click();
    await page.getByRole('heading', { name: 'Waiting for a machine' }).waitFor();
    const machines = page.getByRole('list', { name: 'Machines' });
    await machines.getByText('its measurement is abababab…abababab, the policy allows cdcdcdcd…cdcdcdcd').waitFor();
    await page.getByRole('link', { name: 'Decide on which machines' }).first().waitFor();
    const primary = page.getByRole('main').locator('[class*=awsui_button][class*=variant-primary]');
    expect(await primary.count()).toBe(0);
    await page.getByRole('button', { name: 'Start run' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('cvm-proven: its measurement is abababab…abababab').waitFor();
    expect(await dialog.getByRole('link').count()).toBe(0);
    await page.keyboard.press('Escape');
    await open('computations');
    await page.getByRole('row').filter({ hasText: 'On chosen machines' }).getByText('A machine that the policy allows').waitFor();

    await open(`computations/${id}/edit`);
    await page.getByRole('checkbox', { name: /^cvm-proven/ }).check();
    await page.getByRole('button', { name: 'Save changes' }).click();
    await page.getByRole('heading', { name: 'Ready to run' }).waitFor();
    expect((await client.getComputation({ id })).attestation_policy).toMatchObject({
      platforms: ['snp'],
      measurements: ['ab'.repeat(48), 'cd'.repeat(48)],
      vmpl: 0,
      allow_reconnect: false,
    });
    await page.getByRole('button', { name: 'Start run' }).click();
    await page.getByText('have no evidence: the policy of this computation refuses them').waitFor();
    await page.keyboard.press('Escape');
    await page.setViewportSize({ width: 390, height: 844 });
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await violationsOn(page)).toEqual([]);

    const pcrs = { sha256: { '7': 'ef'.repeat(32), '11': '01'.repeat(32) } };
    const versions = { bootloader: 1, tee: 2, snp: 3, microcode: 4, fmc: 5 };
    const attestation_policy = { platforms: ['snp-vtpm' as const], measurements: ['ab'.repeat(48)], pcrs, minimum_tcb: versions };
    await client.updateComputation({ id, body: { name: 'On chosen machines', attestation_policy } });
    await open(`computations/${id}/edit`);
    await page.getByRole('radio', { name: 'Any machine' }).check();
    await page.getByRole('radio', { name: 'Only machines that prove what they run' }).check();
    await page.getByRole('button', { name: 'Versions, levels and exceptions' }).click();
    const least = page.getByRole('textbox', { name: 'Least versions (SNP)' });
    expect(await least.inputValue()).toBe('1, 2, 3, 4, 5');
    await least.fill('6, 2, 3, 4, 5');
    const ofPcrs = page.getByRole('textbox', { name: 'PCRs (platforms with a vTPM)' });
    await ofPcrs.fill((await ofPcrs.inputValue()).replace('PCR 11: ', '12 '));
    await page.getByRole('button', { name: 'Save changes' }).click();
    await page.getByRole('heading', { name: 'Waiting for a machine' }).waitFor();
    expect((await client.getComputation({ id })).attestation_policy).toMatchObject({
      ...attestation_policy,
      pcrs: { sha256: { '7': 'ef'.repeat(32), '12': '01'.repeat(32) } },
      minimum_tcb: { ...versions, bootloader: 6 },
    });
  });

  it('declares a file by its hash and one that the agent fetches, and proposes approval for a dataset', async () => {
    const { page, open } = await arrive(world(), {
      user: 'alice',
      roles: ['administrator'],
      provokes: /status of 400/,
      path: 'assets/new',
    });
    const client = await clientOf(world(), 'alice', ['d1:administrator']);
    const puts: string[] = [];
    page.on('request', (request) => {
      if (request.method() === 'PUT') puts.push(request.url());
    });
    await page.getByRole('radio', { name: 'I send it to the CVM myself' }).check();
    await page.getByRole('radio', { name: 'Dataset' }).check();
    await page.locator('input[type=file]').setInputFiles({ name: 'mine.csv', mimeType: 'text/csv', buffer: Buffer.from('a,b') });
    // A slow disk: the second piece of the file comes after the user has cancelled.
    await page.evaluate(() => {
      const { stream } = Blob.prototype;
      const last = new Promise<void>((come) => Object.assign(globalThis, { comesOn: come }));
      Blob.prototype.stream = function () {
        Blob.prototype.stream = stream;
        const start = async (to: ReadableStreamDefaultController) => last.then(() => to.close());
        return new ReadableStream({ start });
      };
    });
    await page.getByRole('button', { name: 'Declare', exact: true }).click();
    await page.getByRole('button', { name: 'Cancel the hashing' }).click();
    await page.evaluate(() => (globalThis as unknown as { comesOn: () => void }).comesOn());
    await page.getByText('The hashing was cancelled. Nothing of the file was sent.').waitFor();
    await page.getByRole('button', { name: 'Declare', exact: true }).click();
    await page.getByText('mine.csv is declared.').waitFor();
    await open('assets/new');
    await page.getByRole('radio', { name: 'The agent fetches it' }).check();
    await page.getByRole('textbox', { name: 'File name' }).fill('fetched.py');
    await page.getByRole('textbox', { name: 'SHA3-256 of the file' }).fill('ab'.repeat(32));
    await page.getByRole('textbox', { name: 'Address' }).fill('https://example.com/a.py?token=1');
    await page.getByRole('textbox', { name: 'Arguments (optional)' }).fill('--all');
    await page.getByRole('button', { name: 'Declare', exact: true }).click();
    await page.getByText('Expected an address without a query').first().waitFor();
    await page.getByRole('textbox', { name: 'Address' }).fill('https://example.com/a.py');
    expect(await violationsOn(page)).toEqual([]);
    await page.getByRole('button', { name: 'Declare', exact: true }).click();
    await expect.poll(() => nameOfFocus(page)).toBe('fetched.py');
    const { assets } = await client.listAssets({ limit: 2 });
    expect(assets).toMatchObject([
      { file_name: 'fetched.py', state: 'ready', use: 'open', algo_args: ['--all'], source: { type: 'https' } },
      { file_name: 'mine.csv', state: 'pending', use: 'approval' },
    ]);
    expect(puts).toEqual([]);
  });
}
