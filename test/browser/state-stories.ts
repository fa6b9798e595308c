import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Route } from 'playwright-core';
import { expect, it, onTestFinished } from 'vitest';
import { amount } from '../support/amounts.ts';
import { type ConsoleWorld, violationsOn } from './console-world.ts';
import { nameOfFocus } from './focus.ts';
import { arrive } from './party.ts';
import { clientOf, readyComputation } from './seed.ts';

const isFull = amount({ sample: false, full: true });

/** States of screens that last for a moment, or that need a fault. Only a full run opens them. */
export function tellStates(world: () => ConsoleWorld): void {
  it.runIf(isFull)(
    'has no finding of axe while a file is uploaded, after the upload was cancelled or refused, and where the user has no role',
    async () => {
      const provoked = /status of 400/;
      const { page, open } = await arrive(world(), { user: 'alice', roles: ['administrator'], provokes: provoked });
      const found: Record<string, string[]> = {};
      const look = async (title: string) => {
        const faults = await violationsOn(page);
        if (faults.length > 0) found[title] = faults;
      };
      const held: Route[] = [];
      let storage: 'holds' | 'refuses' | 'takes' = 'holds';
      await page.route('**', async (route) => {
        const isUpload = route.request().method() === 'PUT' && !new URL(route.request().url()).pathname.startsWith('/d1/');
        if (!isUpload || storage === 'takes') await route.fallback();
        else if (storage === 'refuses') await route.fulfill({ status: 400, headers: { 'access-control-allow-origin': '*' } });
        else held.push(route);
      });

      await open('assets/new');
      await page.locator('input[type=file]').setInputFiles({ name: 'a.csv', mimeType: 'text/csv', buffer: Buffer.from('a,b') });
      await page.getByRole('button', { name: 'Upload', exact: true }).click();
      await page.getByText('Uploading a.csv').first().waitFor();
      await look('an upload under way');

      // The question is answered with no: the user stays, and the upload goes on.
      const questions: string[] = [];
      page.on('dialog', (dialog) => {
        questions.push(dialog.message());
        void dialog.dismiss();
      });
      await page.getByRole('link', { name: 'Runs', exact: true }).click();
      await expect.poll(() => questions).toHaveLength(1);
      await page.goBack();
      await expect.poll(() => questions).toHaveLength(2);
      expect(new URL(page.url()).pathname).toBe('/console/domains/d1/assets/new');
      await page.getByRole('button', { name: 'User: alice' }).click();
      await page.getByRole('menuitem', { name: 'Sign out' }).click();
      await expect.poll(() => questions).toHaveLength(3);
      expect(await page.evaluate(() => Object.keys(sessionStorage))).toContain('console.tokens');
      await page.getByText('Uploading a.csv').first().waitFor();

      await page.getByRole('button', { name: 'Cancel the upload' }).click();
      await page.getByText('The upload was cancelled').waitFor();
      await page.getByText('The asset a.csv stays').getByRole('link', { name: 'a.csv' }).waitFor();
      expect(await nameOfFocus(page)).toBe('Upload asset');
      await look('a cancelled upload');

      storage = 'refuses';
      await page.getByRole('button', { name: 'Upload again' }).click();
      await page.getByText('Storage refused the file with the status 400.').waitFor();
      await look('a refused upload');

      storage = 'takes';
      const another = { name: 'another.csv', mimeType: 'text/csv', buffer: Buffer.from('a,b,c') };
      await page.locator('input[type=file]').setInputFiles(another);
      await page.getByText('It becomes the content of a.csv, of the type text/csv').first().waitFor();
      await look('a file that is sent under the name of another');
      await page.getByRole('button', { name: 'Upload again' }).click();
      await page.getByRole('button', { name: 'Download a.csv' }).waitFor();

      await page.goto('/console/domains/d9/computations');
      await page.getByText('You have no role in the domain d9').waitFor();
      await look('no access');
      expect(found).toEqual({});
    },
  );

  it.runIf(isFull)(
    'asks for a file again at once that was changed after it was chosen, and nothing when a file is left that has arrived',
    async () => {
      const folder = mkdtempSync(join(tmpdir(), 'chosen-'));
      onTestFinished(() => rmSync(folder, { recursive: true }));
      const file = join(folder, 'b.csv');
      writeFileSync(file, 'a,b');
      utimesSync(file, 1e9, 1e9); // the browser compares whole seconds
      const changed = /ERR_UPLOAD_FILE_CHANGED/;
      const { page, open } = await arrive(world(), { user: 'alice', roles: ['administrator'], provokes: changed });
      page.on('dialog', () => expect.unreachable('It asked.'));
      await open('assets/new');
      await page.locator('input[type=file]').setInputFiles(file);
      writeFileSync(file, 'a,b,c,d');
      await page.getByRole('button', { name: 'Upload', exact: true }).click();
      await page.getByText('b.csv has changed or is gone since you chose it. Choose it again.').waitFor();

      await page.locator('input[type=file]').setInputFiles(file);
      await page.route('**/d1/assets/*', async (route) => {
        const answer = await route.fetch();
        const isRead = route.request().method() === 'GET';
        await route.fulfill({ response: answer, ...(isRead && { json: { ...(await answer.json()), state: 'pending' } }) });
      });
      await page.getByRole('button', { name: 'Upload again' }).click();
      await page.getByText('b.csv has arrived').first().waitFor();
      expect(await page.getByRole('button', { name: 'Cancel the upload' }).count()).toBe(0);
      await page.getByRole('link', { name: 'Runs', exact: true }).click();
      await page.getByRole('heading', { name: /^Runs/, level: 1 }).waitFor();
      await page.unroute('**/d1/assets/*');
      await open('assets');
      await page.getByRole('link', { name: 'b.csv' }).click();
      await page.getByRole('button', { name: 'Download b.csv' }).waitFor();
    },
  );

  it.runIf(isFull)(
    'takes another type for a new asset that the computation refuses, and keeps what else was entered',
    async () => {
      const { id } = await readyComputation(world(), 'Has its algorithm');
      const client = await clientOf(world(), 'alice', ['d1:administrator']);
      const { page } = await arrive(world(), {
        user: 'alice',
        roles: ['administrator'],
        provokes: /status of 409/,
        path: `assets/new?computation=${id}`,
      });
      const file = { name: 'refused-at-first.csv', mimeType: 'text/csv', buffer: Buffer.from('a,b') };
      await page.locator('input[type=file]').setInputFiles(file);
      await page.getByRole('textbox', { name: 'Description (optional)' }).fill('Entered once');
      await page.getByRole('radio', { name: 'Algorithm' }).check();
      const upload = page.getByRole('button', { name: 'Upload', exact: true });
      for (let times = 0; times < 2; times++) {
        const refused = page.waitForResponse((response) => response.status() === 409);
        await upload.click();
        await refused;
        await page.getByText('The computation has an algorithm. Choose another type').first().waitFor();
      }
      expect(await violationsOn(page)).toEqual([]);
      await page.getByRole('radio', { name: 'Dataset' }).check();
      await upload.click();
      await page.getByRole('table', { name: 'Inputs' }).getByRole('link', { name: file.name }).waitFor();
      const { assets } = await client.listAssets({ limit: 100 });
      expect(assets.filter(({ file_name }) => file_name === file.name)).toMatchObject([
        { asset_type: 'dataset', description: 'Entered once', state: 'ready' },
      ]);
    },
  );

  it.runIf(isFull)('registers no CVM over one that is there', async () => {
    const client = await clientOf(world(), 'alice', ['d1:administrator']);
    await client.registerCvm({ cvmID: 'cvm-twice', body: { description: 'The first' } });
    const { page } = await arrive(world(), {
      user: 'alice',
      roles: ['administrator'],
      provokes: /status of 404/,
      path: 'cvms',
    });
    await page.getByRole('button', { name: 'Register CVM' }).first().click();
    const dialog = page.getByRole('dialog', { name: 'Register a CVM' });
    const identifier = dialog.getByRole('textbox', { name: 'Identifier' });
    await identifier.fill('cvm-twice');
    await dialog.getByRole('button', { name: 'Register', exact: true }).click();
    await dialog.getByText('cvm-twice is registered already').waitFor();
    expect(await violationsOn(page)).toEqual([]);
    expect(await client.getCvm({ cvmID: 'cvm-twice' })).toMatchObject({ description: 'The first' });
    await identifier.fill('cvm-once');
    await dialog.getByRole('button', { name: 'Register', exact: true }).click();
    await page.getByText('cvm-once is registered.').waitFor();
  });

  it.runIf(isFull)('sends the file of a pending asset again at a press of Retry', async () => {
    const { page, open } = await arrive(world(), { user: 'alice', roles: ['administrator'], provokes: /status of 400/ });
    const client = await clientOf(world(), 'alice', ['d1:administrator']);
    const { id } = await client.createAsset({ body: { asset: { file_name: 'c.csv', asset_type: 'dataset' } } });
    await page.route('**', async (route) => {
      const isUpload = route.request().method() === 'PUT' && !new URL(route.request().url()).pathname.startsWith('/d1/');
      if (isUpload) await route.fulfill({ status: 400, headers: { 'access-control-allow-origin': '*' } });
      else await route.fallback();
    });
    await open(`assets/${id}`);
    await page.locator('input[type=file]').setInputFiles({ name: 'c.csv', mimeType: 'text/csv', buffer: Buffer.from('a,b') });
    await page.getByRole('button', { name: 'Upload', exact: true }).click();
    await page.getByText('Storage refused the file with the status 400.').waitFor();
    await page.unroute('**');
    await page.getByRole('button', { name: 'Retry' }).click();
    await page.getByRole('button', { name: 'Download c.csv' }).waitFor();
    expect(await nameOfFocus(page)).toBe('Content');
  });

  it.runIf(isFull)(
    'offers an asset to link although none of the 100 newest may be linked, and finds it as one types',
    async () => {
      const [owner, provider] = await Promise.all([
        clientOf(world(), 'alice', ['d1:creator']),
        clientOf(world(), 'bob', ['d1:dataset_provider']),
      ]);
      const { id } = await owner.createComputation({ body: { name: 'Takes one of many' } });
      const own = { file_name: 'of-bob.csv', asset_type: 'dataset', asset: '' } as const;
      await provider.createAsset({ body: { asset: own } });
      const ofOthers = Array.from({ length: 101 }, (_, each) => ({ ...own, file_name: `of-alice-${each}.csv` }));
      for (const asset of ofOthers) await owner.createAsset({ body: { asset } });
      const { page } = await arrive(world(), { user: 'bob', roles: ['dataset_provider'], path: `computations/${id}` });
      await page.getByRole('button', { name: 'Link asset' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('button', { name: 'Choose an asset' }).click();
      await page.getByRole('option', { name: 'of-bob.csv' }).waitFor();
      const filter = page.getByLabel('Find an asset by its name, type or creator');
      await filter.fill('of-alice');
      await page.getByText('No asset that you may link matches.').waitFor();
      await filter.fill('OF-BOB');
      await page.getByRole('option', { name: 'of-bob.csv' }).click();
      await dialog.getByRole('button', { name: 'Link', exact: true }).click();
      await page.getByText('of-bob.csv is linked.').waitFor();
    },
  );

  it.runIf(isFull)('shows that a screen could not be loaded, and loads it once the service answers', async () => {
    const provoked = /ERR_FAILED|could not be loaded|preload assets/; // of the browser, the console and axe
    const { page } = await arrive(world(), { user: 'alice', roles: ['viewer'], provokes: provoked });
    await page.route(/\/console\/(assets\/statistics|config\.json)/, (route) => route.abort());
    await page.getByRole('link', { name: 'Statistics', exact: true }).click();
    await page.getByText('or there is a new version of the console.').waitFor();
    expect(await nameOfFocus(page)).toBe('Screen not loaded');
    expect(await violationsOn(page)).toEqual([]);
    await page.getByRole('button', { name: 'Retry' }).click();
    await page.getByText('Check your connection, then try again.').waitFor();
    await page.unrouteAll({ behavior: 'wait' });
    await page.getByRole('button', { name: 'Retry' }).click();
    await page.getByRole('heading', { name: 'Statistics', level: 1 }).waitFor();
  });

  it.runIf(isFull)('keeps what is typed when the sign-in expires, until the user signs in again', async () => {
    const { page } = await arrive(world(), {
      user: 'alice',
      roles: ['creator'],
      provokes: /status of 401/,
      path: 'computations/new',
    });
    const name = page.getByRole('textbox', { name: 'Name', exact: true });
    await name.fill('Typed for long');
    await page.route('**/d1/**', (route) => (route.request().resourceType() === 'fetch' ? refuse(route) : route.fallback()));
    await page.getByRole('button', { name: 'Create computation' }).click();
    await page.getByText('Your sign-in has expired').first().waitFor();
    expect(await name.inputValue()).toBe('Typed for long');
    expect(await violationsOn(page)).toEqual([]);
    await page.getByRole('button', { name: 'Sign in again' }).first().click();
    await page.getByLabel('User name').waitFor();
  });

  it.runIf(isFull)('offers to sign in again within a dialog when the sign-in expires', async () => {
    const { page } = await arrive(world(), {
      user: 'alice',
      roles: ['administrator'],
      provokes: /status of 401/,
      path: 'cvms',
    });
    await page.getByRole('button', { name: 'Register CVM' }).first().click();
    const dialog = page.getByRole('dialog', { name: 'Register a CVM' });
    await dialog.getByRole('textbox', { name: 'Identifier' }).fill('cvm-1');
    await page.route('**/d1/**', (route) => (route.request().resourceType() === 'fetch' ? refuse(route) : route.fallback()));
    await dialog.getByRole('button', { name: 'Register', exact: true }).click();
    await dialog.getByText('signing in again loses it').waitFor();
    expect(await violationsOn(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Sign in again' }).click();
    await page.getByLabel('User name').waitFor();
  });
}

async function refuse(route: Route): Promise<void> {
  const body = { code: 'unauthenticated', detail: 'The token is not valid.' };
  await route.fulfill({ status: 401, contentType: 'application/problem+json', body: JSON.stringify(body) });
}
