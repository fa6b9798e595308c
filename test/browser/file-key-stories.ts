import { hash } from 'node:crypto';
import { expect, it } from 'vitest';
import { publicKey } from '../support/ready-computation.ts';
import { type ConsoleWorld, violationsOn } from './console-world.ts';
import { arrive } from './party.ts';
import { clientOf, readyComputation } from './seed.ts';
import { keepSentBodies } from './sent-bodies.ts';

export function tellOfFileKeys(world: () => ConsoleWorld): void {
  it('gives a file a key that its creator holds without sending it, approves one run, and removes the key', async () => {
    const bob = await clientOf(world(), 'bob', ['d1:dataset_provider']);
    const { id: computation } = await readyComputation(world(), 'Keyed');
    const asset = { file_name: 'keyed.csv', asset_type: 'dataset', asset: btoa('1'), use: 'approval' } as const;
    const { id } = await bob.createAsset({ body: { asset: { ...asset, user_key: publicKey() } } });
    await bob.linkAsset({ id, computationID: computation });
    const { page, open } = await arrive(world(), {
      user: 'bob',
      roles: ['dataset_provider'],
      provokes: /status of 40[49]/,
      path: `assets/${id}`,
    });
    const readSent = await keepSentBodies(page);
    await page.getByText('It has no key here.').waitFor();
    await page.getByRole('button', { name: 'Give it a key' }).click();
    const key = 'k'.repeat(32);
    await page
      .getByLabel('Choose the file of the key')
      .setInputFiles({ name: 'keyed.csv.key', mimeType: 'text/plain', buffer: Buffer.from(btoa(key)) });
    await page.getByText(`SHA-256 ${hash('sha256', key)}`).waitFor();
    await page.getByRole('button', { name: 'Set key' }).click();
    const alert = page.getByRole('alert').filter({ hasText: 'Nothing says which CVMs may get the key.' });
    await alert.getByRole('link', { name: 'Decide on which machines' }).waitFor();
    await page.getByRole('radio', { name: 'Only machines that prove what they run' }).check();
    await page.getByRole('textbox', { name: 'Measurements' }).fill('ab'.repeat(48));
    await page.getByRole('checkbox', { name: /^snp(?!-)/ }).check();
    expect(await violationsOn(page)).toEqual([]);
    await page.getByRole('button', { name: 'Set key' }).click();
    await page.getByText('you, with cms broker').waitFor();
    await page.getByText('Never', { exact: true }).waitFor();
    expect(await bob.getAssetKey({ id })).toMatchObject({ number: 1, held: 'party', fingerprint: hash('sha256', key) });
    const sent = await readSent();
    expect([sent.includes(btoa(key)), sent.includes(hash('sha256', key))]).toEqual([false, true]);

    await open(`computations/${computation}/approve`);
    await page.getByText('The key of keyed.csv goes only to the machine of an approved run').waitFor();
    await page.getByText('Who can open its key: you, with cms broker.').waitFor();
    await page.getByRole('button', { name: /^Limits: any CVM, until something changes/ }).click();
    const runs = page.getByRole('textbox', { name: 'For so many runs' });
    await runs.fill('none');
    await page.getByText('Expected a whole number from 1 to 1,000.').waitFor();
    await runs.fill('1');
    await page.getByText('until something changes or 1 run has started', { exact: false }).first().waitFor();
    await page.getByRole('button', { name: 'Approve', exact: true }).click();
    await page.getByRole('table', { name: 'People' }).getByText('0 of 1 run used').waitFor();
    expect((await bob.listApprovals({ id: computation })).approvals).toMatchObject([{ user: 'bob', max_runs: 1, used_runs: 0 }]);

    await open(`assets/${id}`);
    await page.getByRole('button', { name: 'Remove key' }).waitFor();
    await page.getByRole('button', { name: 'Remove key' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByText('It has no key here.').waitFor();
  });
}
