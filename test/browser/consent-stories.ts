import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Schemas } from 'computation-management-client';
import { canonicalDigest } from 'computation-management-formats/digests';
import { parsePublicKey } from 'computation-management-formats/public-key';
import type { Page } from 'playwright-core';
import { expect, it, onTestFinished } from 'vitest';
import { certificatePem } from '../packages/formats/openssh-keys.ts';
import { digestsIn } from '../support/approval-digests.ts';
import { pemKey, sshKey } from '../support/private-key-files.ts';
import { publicKey } from '../support/ready-computation.ts';
import { type ConsoleWorld, rulesOfLook, violationsOn } from './console-world.ts';
import { arrive } from './party.ts';
import { clientOf, readyComputation } from './seed.ts';

/** Names that could pass for a label, for another row, or for nothing. */
const spoofs = [
  'Algorithm',
  'Dataset',
  'SHA3-256',
  'alice, the owner of the computation',
  'penguins.csv',
  'p\u0435nguins.csv',
  'penguins.csv ',
  'pen  guins.csv',
  'pen guins.csv',
  'pen\u00a0guins.csv',
  'penguins\u200b.csv',
  '\u202evsc.sniugnep',
  'Nobody whom the service names',
  'x'.repeat(251) + '.csv',
];

export function tellOfConsent(world: () => ConsoleWorld): void {
  const linkedBy = async (user: string, computationID: string, file_name: string, content = file_name) => {
    const client = await clientOf(world(), user, ['d1:dataset_provider']);
    const asset = {
      file_name,
      asset_type: 'dataset',
      asset: Buffer.from(content).toString('base64'),
      user_key: publicKey(),
    } as const;
    const { id } = await client.createAsset({ body: { asset } });
    await client.linkAsset({ id, computationID });
    return id;
  };

  it('shows no name of others that passes for a label or for another row of what is approved', async () => {
    const { id } = await readyComputation(world(), 'Spoofed');
    for (const name of spoofs) await linkedBy('bob', id, name);
    const { page } = await arrive(world(), {
      user: 'bob',
      roles: ['dataset_provider'],
      path: `computations/${id}/approve`,
    });
    await openForExperts(page);
    // A word is explained where it stands, by the keyboard too.
    const explained = page.getByRole('button', { name: 'What does digest mean?' });
    await explained.press('Enter');
    await page.getByText('the hash of a manifest, by which users approve it').waitFor();
    expect(await violationsOn(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByText('the hash of a manifest, by which users approve it').waitFor({ state: 'hidden' });
    const files = page.getByRole('table', { name: 'Files of the manifest' });
    await files.getByText('x'.repeat(251)).first().waitFor();
    const rows = await files.locator('tbody tr').all();
    const shown = await Promise.all(
      rows.map(async (row) => ({ type: await row.locator('th').innerText(), name: await row.locator('td').first().innerText() })),
    );
    expect(shown.map(({ type }) => type)).toEqual(['Algorithm', ...spoofs.map(() => 'Dataset')]);
    const names = shown.map(({ name }) => name);
    expect(names[0]).toBe('penguin-sizes.py');
    expect(new Set(names).size).toBe(spoofs.length + 1);
    expect(names).toContain('p\u0435nguins.csv (not ASCII: U+0435)');
    expect(names).toContain('pen‹U+00A0›guins.csv');
    expect(names).toContain('penguins‹U+200B›.csv');
    // Blanks are as wide as they are, and every name stands in a box that no text can draw.
    expect(await page.evaluate<string>(stylesOfNames)).toBe('break-spaces 1px isolate');
    expect(await files.locator('tbody tr .name').count()).toBe(2 * (spoofs.length + 1));
    const sizes: Record<string, string[]> = {};
    for (const width of [1280, 360]) {
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.setViewportSize({ width, height: 900 });
        await page.emulateMedia({ colorScheme });
        await expect.poll(() => page.evaluate<boolean>('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
        const isFirst = Object.keys(sizes).length === 0;
        sizes[`${width} ${colorScheme}`] = await violationsOn(page, isFirst ? undefined : rulesOfLook);
      }
    }
    expect(Object.values(sizes).flat()).toEqual([]);
  });

  it('says in words who changed what since the approval, once each field that it covers was changed', async () => {
    const alice = await clientOf(world(), 'alice', ['d1:administrator']);
    const { id, asset } = await readyComputation(world(), 'Changed everywhere');
    const dataset = await linkedBy('bob', id, 'penguins.csv');
    const policy = (measurement: string) => ({ platforms: ['snp' as const], measurements: [measurement.repeat(48)] });
    await alice.updateComputation({ id, body: { name: 'Changed everywhere', attestation_policy: policy('cd') } });
    await alice.approve({ id, body: digestsIn((await alice.call('getManifest', { id })).response.headers) });
    const pem = certificatePem;
    await alice.updateComputation({
      id,
      body: {
        name: 'Changed',
        description: 'Anew',
        approval: 'all',
        log_access: 'parties',
        attestation_policy: policy('ab'),
        agent_config: {
          attested_tls: true,
          cert_file: '/etc/cert.pem',
          server_key: '/etc/key.pem',
          server_ca_file: pem,
          client_ca_file: '/etc/ca.pem',
        },
      },
    });
    await alice.unlinkAsset({ id: asset, computationID: id });
    const other = await alice.createAsset({
      body: { asset: { file_name: 'other.py', asset_type: 'algorithm', asset: btoa('2') } },
    });
    await alice.linkAsset({ id: other.id, computationID: id });
    const bob = await clientOf(world(), 'bob', ['d1:dataset_provider']);
    await bob.unlinkAsset({ id: dataset, computationID: id });
    await linkedBy('bob', id, 'more.csv');
    await alice.uploadKey({ id, body: { key: publicKey() } });
    const { page, open } = await arrive(world(), { user: 'alice', roles: ['administrator'], path: `computations/${id}/approve` });
    const changed = page.getByRole('list', { name: 'What has changed since your approval' }).locator('> li');
    await changed.first().waitFor();
    const told = await changed.allInnerTexts();
    for (const sentence of [
      /^Changed\nalice changed the name from "Changed everywhere" to Changed, (just now|\d+ minutes? ago)\n/,
      /^Changed\nalice changed the description from .. to Anew/,
      /^Stricter\nalice changed the level of approval from none to all/,
      /^Weaker\nalice changed the access to logs from none to parties/,
      /^Weaker\nalice added the measurement abab.* of the attestation policy/,
      /^Stricter\nalice removed the measurement cdcd.* of the attestation policy/,
      /^Stricter\nalice changed the attestation of the TLS of the agent from false to true/,
      /alice changed the certificate of the agent from .. to "\/etc\/cert\.pem"/,
      /alice changed the CA of the server from .. to /,
      /alice changed the CA of the clients from .. to "\/etc\/ca\.pem"/,
      /^Changed\nalice replaced penguin-sizes\.py [0-9a-f]{8}…[0-9a-f]{8} by other\.py [0-9a-f]{8}…[0-9a-f]{8}, (just now|\d+ minutes? ago)\n/,
      /^Changed\nbob removed the dataset penguins\.csv/,
      /^Changed\nbob added the dataset more\.csv/,
      /key of alice/,
    ]) {
      expect(told).toContainEqual(expect.stringMatching(sentence));
    }
    await open(`computations/${id}`);
    await page.getByRole('table', { name: 'People' }).getByText('added the dataset more.csv').waitFor();
  });

  it('hashes my file in the browser, says whether it is the one of the manifest, and shows an open algorithm only if it is', async () => {
    const { id } = await readyComputation(world(), 'Compared');
    await linkedBy('bob', id, 'penguins.csv', 'species,mass\n');
    const { page } = await arrive(world(), { user: 'alice', roles: ['administrator'], path: `computations/${id}/approve` });
    const sent: string[] = [];
    const files = page.getByRole('list', { name: 'Files to check' }).getByRole('listitem');
    const row = files.filter({ hasText: 'penguins.csv' });
    await row.waitFor();
    page.on('request', (request) => sent.push(request.method()));
    const choose = async (name: string, buffer: Buffer) =>
      await row.locator('input[type=file]').setInputFiles({ name, mimeType: 'text/csv', buffer });
    await choose('mine.csv', Buffer.from('species,mass\n'));
    await row.getByText('Same content as mine.csv').waitFor();
    const large = Buffer.alloc(9_000_000, 'species,mass\r\n');
    await choose('large.csv', large);
    await row.getByText('Not the content of large.csv').waitFor();
    expect((await row.innerText()).replace(/\s/g, '')).toContain(createHash('sha3-256').update(large).digest('hex'));
    await choose('empty.csv', Buffer.alloc(0));
    await row.getByText('Not the content of empty.csv').waitFor();
    expect(sent).not.toContain('POST');

    const algorithm = files.filter({ hasText: 'penguin-sizes.py' });
    await page.route(/\/assets\/[0-9a-f-]+$/, async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...(await response.json()), asset: btoa('print("harmless")') } });
    });
    await algorithm.getByRole('button', { name: 'Read the algorithm' }).click();
    await algorithm.getByText('The service returned another content than that of the manifest.').waitFor();
    await page.unrouteAll({ behavior: 'wait' });
    await algorithm.getByRole('button', { name: 'Read the algorithm' }).click();
    await algorithm.getByLabel('The text of the algorithm').getByText('import').first().waitFor();
    expect(await violationsOn(page)).toEqual([]);
  });

  it('signs in the browser with a key file by the keyboard alone, and the service accepts it, of PEM, and of OpenSSH with a passphrase', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'signs-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const alice = await clientOf(world(), 'alice', ['d1:administrator']);
    const { id } = await readyComputation(world(), 'Signed here');
    await alice.updateComputation({ id, body: { name: 'Signed here', approval: 'all_signed' } });
    const { page, open } = await arrive(world(), { user: 'alice', roles: ['administrator'] });
    const bodies: string[] = [];
    page.on('request', (request) => bodies.push(request.postData() ?? ''));
    const choose = async (file: string) => {
      await page.getByRole('form', { name: 'Approve' }).locator('input[type=file]').setInputFiles(file);
    };
    for (const { file, key, passphrase } of [pemKey(folder, 'p256'), sshKey(folder, 'ed25519', 'correct horse')].flatMap(
      (made) => made ?? [],
    )) {
      await alice.uploadKey({ id, body: { key } });
      await open(`computations/${id}/approve`);
      const sign = page.getByRole('button', { name: 'Sign and approve' });
      await sign.waitFor();
      expect(await sign.isDisabled()).toBe(true);
      if (passphrase === undefined) {
        const other = pemKey(mkdtempSync(join(folder, 'other-')), 'p256'); // not the uploaded one
        await choose(other.file);
        const [given, uploaded] = [other.key, key].map((each) => parsePublicKey(each).fingerprint);
        await page.getByText(`This key is ${given}. You uploaded ${uploaded}. Choose that one, or replace your key.`).waitFor();
        expect(await sign.isDisabled()).toBe(true);
        writeFileSync(join(folder, 'public'), 'ssh-ed25519 AAAA alice');
        await choose(join(folder, 'public'));
        await page.getByText('This is a public key.').waitFor();
        expect(bodies.filter((body) => body.includes('signature'))).toEqual([]);
      }
      await choose(file);
      if (passphrase !== undefined) {
        await page.getByText('The key has a passphrase.').waitFor();
        const field = page.getByLabel('Passphrase of the key');
        await field.fill(passphrase);
        await choose(pemKey(mkdtempSync(join(folder, 'again-')), 'p256').file);
        await field.waitFor({ state: 'hidden' });
        await choose(file); // asks for the passphrase anew
        await field.fill('wrong');
        await field.press('Enter');
        await page.getByText('The passphrase is wrong.').waitFor();
        await field.fill(passphrase);
        await field.press('Enter');
      } else {
        await page.getByText('the key that you uploaded').waitFor();
        await sign.press('Enter');
      }
      await page.getByText('You have signed and approved.').waitFor();
      const { approvals } = await alice.listApprovals({ id });
      expect([file.slice(folder.length), approvals]).toMatchObject([
        expect.anything(),
        [{ user: 'alice', signed: true, stale: false }],
      ]);
      await alice.withdrawApproval({ id });
      expect(bodies.join('')).not.toContain(readFileSync(file, 'utf8').split('\n')[1]);
    }
  });

  it('keeps and shows the CVMs and the end of my approval when I approve again, until I choose others', async () => {
    const alice = await clientOf(world(), 'alice', ['d1:administrator']);
    const { id } = await readyComputation(world(), 'Limited');
    const limits = { cvm_ids: ['sim-1', 'None'], expires_at: new Date(Date.now() + 86_400_000).toISOString() };
    const approve = async () =>
      await alice.approve({ id, body: { ...digestsIn((await alice.call('getManifest', { id })).response.headers), ...limits } });
    const limitsNow = async () =>
      (await alice.listApprovals({ id })).approvals.map(({ cvm_ids, expires_at }) => ({ cvm_ids, expires_at }));
    await approve();
    const { page, open } = await arrive(world(), { user: 'alice', roles: ['administrator'], path: `computations/${id}/approve` });
    const again = async () => {
      await page.getByRole('button', { name: 'Approve', exact: true }).click();
      await page.getByText('You have approved.').waitFor();
    };
    const before = page.getByRole('main').getByText('You have approved this').locator('xpath=../..');
    await before.getByText('Only on sim-1, None').waitFor();
    expect(await before.locator('.name').allInnerTexts()).toEqual(limits.cvm_ids);
    await before.getByText(/^Until .*(UTC|GMT)/).waitFor();
    await page.getByRole('button', { name: /^Limits: only sim-1, None, until .*, as before$/ }).click();
    expect(await page.getByLabel('Only on these CVMs (optional)').inputValue()).toBe('sim-1, None');
    await page.getByRole('button', { name: /^How long the approval is valid Until .*, as before/ }).waitFor();
    await again();
    expect(await limitsNow()).toEqual([limits]);
    await alice.updateComputation({ id, body: { name: 'Limited', description: 'Changed' } });
    await open(`computations/${id}/approve`);
    await page.getByText('Your approval does not count any more').waitFor();
    await page.getByText('Only on sim-1, None').waitFor();
    await page.getByRole('button', { name: /^Limits/ }).click();
    await page.getByLabel('Only on these CVMs (optional)').fill('');
    await page.getByRole('button', { name: /^How long the approval is valid/ }).click();
    await page.getByRole('option', { name: 'Until something changes' }).click();
    await again();
    expect(await limitsNow()).toEqual([{ cvm_ids: null, expires_at: null }]);

    // Of an approval that has expired, the end is chosen anew: none of itself would be longer than before.
    await approve();
    await page.route(/\/approvals$/, async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, body: (await response.text()).replaceAll(limits.expires_at, '2026-01-01T00:00:00.000Z') });
    });
    await open(`computations/${id}/approve`);
    await page.getByText('Your approval has expired. Choose until when it is valid now.').first().waitFor();
    expect(await page.getByRole('button', { name: 'Approve', exact: true }).isDisabled()).toBe(true);
    await page.unrouteAll({ behavior: 'wait' });
  });

  it('shows every member of a manifest, and tells warnings of the service and content that is no text from its own words', async () => {
    const alice = await clientOf(world(), 'alice', ['d1:administrator']);
    const { id, asset } = await readyComputation(world(), 'Strange');
    await alice.unlinkAsset({ id: asset, computationID: id });
    const bytes = Buffer.from([0, 255, 254]);
    const binary = { file_name: 'binary', asset_type: 'algorithm', asset: bytes.toString('base64') } as const;
    await alice.linkAsset({ id: (await alice.createAsset({ body: { asset: binary } })).id, computationID: id });
    for (const name of ['one.csv', 'two" are harmless.csv']) await linkedBy('bob', id, name, 'same');
    const { page, open } = await arrive(world(), { user: 'alice', roles: ['administrator'] });
    await page.route(/\/manifest$/, async (route) => {
      const response = await route.fetch();
      const json = (await response.json()) as Schemas['Manifest'] & Record<string, unknown>;
      Object.assign(json.algorithm, { algo_args: ['--all'], mount: '/host' });
      Object.assign(json.datasets[0] ?? {}, { kbs: { enabled: true } });
      json['version'] = 'None';
      await route.fulfill({ response, json, headers: { ...response.headers(), 'manifest-digest': canonicalDigest(json) } });
    });
    await open(`computations/${id}/approve`);
    await openForExperts(page);
    for (const line of [
      'arguments ["--all"]',
      'also mount: /host',
      'the agent may use the network for it',
      'also version: None',
    ]) {
      await page.getByText(line, { exact: true }).waitFor();
    }
    const cautions = page.getByRole('region', { name: 'What your approval does not protect from' });
    const [warned] = await cautions.getByText('The service warns:').locator('.name').allInnerTexts();
    expect(warned).toContain('have the same content');
    expect(await cautions.getByRole('listitem').filter({ hasText: 'same content' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Read the algorithm' }).click();
    await page.getByText('The content is that of the manifest, and no text.').waitFor();
  });

  it('opens a computation with what it waits for and since when, and leads each party to what it does next, by one primary button', async () => {
    const owner = await clientOf(world(), 'olga', ['d1:creator']);
    const { id } = await owner.createComputation({ body: { name: 'Step by step' } });
    const { page, open } = await arrive(world(), { user: 'olga', roles: ['creator'] });
    const primary = page.getByRole('main').locator('[class*=awsui_button][class*=variant-primary]');
    const waits = page.getByRole('list', { name: 'What a run waits for' });
    const expectNext = async (name: string) => {
      await open('todo');
      await page.getByRole('heading', { name: 'To do', level: 1 }).waitFor();
      await open(`computations/${id}`);
      await primary.getByText(name).waitFor();
      expect(await primary.allInnerTexts()).toEqual([name]);
    };
    await expectNext('Add your key');
    await waits.getByText(/^olga \(you\): public key, for (\d+ min )?\d+ s$/).waitFor();
    await waits.getByText('An algorithm: link one under Inputs').waitFor();
    await owner.uploadKey({ id, body: { key: publicKey() } });
    await expectNext('Upload an algorithm');
    const asset = { file_name: 'steps.py', asset_type: 'algorithm' } as const;
    const { id: algorithm } = await owner.createAsset({ body: { asset } });
    await owner.linkAsset({ id: algorithm, computationID: id });
    await expectNext('Upload your content');
    await waits.getByText(/^olga \(you\): content of steps\.py, for (\d+ min )?\d+ s$/).waitFor();
    await owner.updateAsset({ id: algorithm, body: { asset: { ...asset, asset: btoa('print(1)') } } });
    await owner.updateComputation({ id, body: { name: 'Step by step', approval: 'all' } });
    await expectNext('Review and approve');
    await open('computations');
    await page.getByRole('row').filter({ hasText: 'Step by step' }).getByRole('link', { name: 'Your approval' }).click();
    await page.getByRole('heading', { name: 'Review and approve' }).waitFor();
    await owner.approve({
      id,
      body: { ...digestsIn((await owner.call('getManifest', { id })).response.headers), cvm_ids: ['sim-only'] },
    });
    await expectNext('Start run');
    await page.getByRole('heading', { name: 'Ready to run' }).waitFor();

    // What would refuse a run on a CVM is known before the click.
    await page.getByRole('button', { name: 'Start run', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('combobox').fill('sim-other');
    await dialog.getByText('The approval of olga is there, which allows only the CVM sim-only').waitFor();
    expect(await dialog.getByRole('button', { name: 'Start run' }).isDisabled()).toBe(true);
    await dialog.getByRole('combobox').fill('sim-only');
    await dialog.getByRole('button', { name: 'Start run' }).click();
    await page.getByText('The run completed').waitFor();
    await owner.updateComputation({ id, body: { name: 'Step by step', description: 'Changed' } });
    await expectNext('Review and approve');
    await page.getByRole('list', { name: 'Steps to a run' }).getByText('0 of 1').waitFor();
    await page.getByText('Stale: no longer counts').waitFor();
    // The end of a run is shown without the colour of success, which would say that all is well.
    expect(await page.getByRole('main').locator('[class*=status-success]').getByText('Completed').count()).toBe(0);
  });

  it('notices an approval by the command line while the page is open', async () => {
    const alice = await clientOf(world(), 'alice', ['d1:administrator']);
    const { id } = await readyComputation(world(), 'Approved elsewhere');
    const { page, open } = await arrive(world(), { user: 'alice', roles: ['administrator'] });
    await page.clock.install();
    await open(`computations/${id}/approve`);
    await page.getByRole('button', { name: 'Approve', exact: true }).waitFor();
    expect(await page.getByText('You have approved this').count()).toBe(0);
    await alice.approve({ id, body: digestsIn((await alice.call('getManifest', { id })).response.headers) });
    await page.clock.runFor(16_000);
    await page.getByText('You have approved this').waitFor();
    await openCommand(page);
  });
}

async function openForExperts(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^For experts/ }).click();
}

/** Checks that the command to copy names what is shown. */
async function openCommand(page: Page): Promise<void> {
  await openForExperts(page);
  await page.getByRole('button', { name: /^Limits/ }).click();
  const command = await page.getByText(/^Or approve exactly this/).innerText();
  const digests = (await page.getByText(/^[0-9a-f]{64}$/).allInnerTexts()).map((text) => text.replace(/\s/g, ''));
  expect(command).toMatch(
    /cms --domain d1 approve [0-9a-f-]{36} --digest [0-9a-f]{64} --configuration [0-9a-f]{64} --sign KEYFILE/,
  );
  expect(digests.filter((digest) => command.includes(digest)).length).toBeGreaterThan(0);
}

const stylesOfNames = `[...new Set([...document.querySelectorAll('main .name')].map((name) => {
  const { whiteSpace, borderTopWidth, unicodeBidi } = getComputedStyle(name);
  return [whiteSpace, borderTopWidth, unicodeBidi].join(' ');
}))].join()`;
