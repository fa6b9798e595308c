import { createHash, generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { assetWithoutReading, waitForRun } from 'computation-management-client';
import { expect, it } from 'vitest';
import { type ConsoleWorld, violationsOn } from './console-world.ts';
import { arrive } from './party.ts';
import { clientOf } from './seed.ts';

export function tellOfResults(world: () => ConsoleWorld): void {
  it('lets a reviewer hand in a result and release it, signed, and its consumer download it until it is deleted', async () => {
    const alice = await clientOf(world(), 'alice', ['d1:administrator']);
    const rita = await clientOf(world(), 'rita', ['d1:viewer']);
    const { publicKey, privateKey } = generateKeyPairSync('ed25519');
    const { id } = await alice.createComputation({
      body: { name: 'Reviewed result', consumers: ['carol'] },
    });
    const owner = await arrive(world(), {
      user: 'alice',
      roles: ['administrator'],
      provokes: /status of 400/,
      path: `computations/${id}/edit`,
    });
    await owner.page.getByRole('textbox', { name: 'Reviewers of results' }).fill('rita\nruth');
    await owner.page.getByRole('button', { name: /^Releases needed/ }).click();
    await owner.page.getByRole('option', { name: '2 of 2' }).click();
    await owner.page.getByRole('textbox', { name: 'Reviewers of results' }).fill(''); // what is needed stays
    await owner.page.getByRole('textbox', { name: 'Reviewers of results' }).fill('rita');
    await owner.page.getByRole('button', { name: 'Save changes' }).click();
    await owner.page.getByText('Expected at most the number of reviewers.').waitFor();
    await owner.page.getByRole('button', { name: /^Releases needed/ }).click();
    await owner.page.getByRole('option', { name: '1 of 1' }).click();
    await owner.page.getByRole('button', { name: 'Save changes' }).click();
    await owner.page.waitForURL((url) => !url.pathname.endsWith('/edit')); // what is being saved would be lost
    await owner.open(`computations/${id}?tab=configuration`);
    await owner.page.getByText('Released by 1 of 1 to alice, carol').waitFor();
    const asset = { file_name: 'a.py', asset_type: 'algorithm', asset: btoa('print(1)') } as const;
    const { id: algorithm } = await alice.createAsset({ body: { asset } });
    await alice.linkAsset({ id: algorithm, computationID: id });
    const spki = publicKey.export({ type: 'spki', format: 'der' }).toString('base64');
    await rita.uploadKey({ id, body: { key: spki } });
    await alice.uploadKey({ id, body: { key: keyOfAnother() } });
    await owner.open(`computations/${id}?tab=manifest`);
    const receivers = owner.page.getByRole('table', { name: 'Who gets the results from the CVM' });
    await receivers.getByText('Key 1').waitFor(); // of rita, the reviewer
    expect(await receivers.getByText('owner').count()).toBe(0);
    const run = await alice.startRun({ id, cvm: 'sim-reviewed' });
    await waitForRun(alice, { id, run });

    const path = `computations/${id}/runs/${run}`;
    const { page } = await arrive(world(), { user: 'rita', roles: ['viewer'], path });
    const result = page.locator('main');
    await result.getByText('It is in the CVM until a reviewer fetches it there and hands it in: rita.').waitFor();
    const content = '<script>document.title = "run"</script>';
    const buffer = Buffer.from(content);
    await page.locator('main input[type=file]').setInputFiles({ name: 'counts.html', mimeType: 'text/html', buffer });
    await page.getByRole('button', { name: 'Hand in', exact: true }).click();
    await result.getByText('0 of 1 releases given. Who has not decided: rita.').waitFor();
    await page.getByRole('textbox', { name: 'Note' }).fill('No small groups.');
    const pem = Buffer.from(privateKey.export({ type: 'pkcs8', format: 'pem' }));
    await page.getByLabel('Choose the signing key').setInputFiles({ name: 'rita.pem', mimeType: 'text/plain', buffer: pem });
    expect(await violationsOn(page)).toEqual([]);
    await page.getByRole('button', { name: 'Sign and release' }).click();
    await result.getByText('Released to alice, carol.').waitFor();
    const { result: released } = await alice.getRun({ id, run });
    const checksum = createHash('sha3-256').update(content).digest('hex');
    expect(released).toMatchObject({ state: 'released', checksum, decisions: [{ reviewer: 'rita', note: 'No small groups.' }] });
    const { statement } = await alice.getResult({ id, run });
    expect(statement.decisions).toMatchObject([{ reviewer: 'rita', key: expect.any(String) as string }]);

    const carol = await arrive(world(), { user: 'carol', roles: ['result_consumer'], path, provokes: /status of 404/ });
    const button = carol.page.getByRole('button', { name: 'Download the result' });
    const ofAsset = `**/assets/${released?.asset ?? ''}`;
    await carol.page.route(ofAsset, async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...((await response.json()) as object), asset: btoa('forged') } });
    });
    await button.click();
    await carol.page.getByText('The service gives another file than the one that was decided on.').waitFor();
    await carol.page.unroute(ofAsset);
    const [download] = await Promise.all([carol.page.waitForEvent('download'), button.click()]);
    expect(download.suggestedFilename()).toBe('counts.html');
    expect(readFileSync(await download.path(), 'utf8')).toBe(content);
    expect(await carol.page.title()).toMatch(/^Run of /);

    const { etag } = await assetWithoutReading(alice, { id: released?.asset ?? '', user: 'alice' });
    await alice.deleteAsset({ id: released?.asset ?? '', ifMatch: etag });
    await button.click();
    await carol.page.getByText(/^It was released on .* and is deleted: its days are over/).waitFor();
  });
}

const keyOfAnother = () => generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'der' }).toString('base64');
