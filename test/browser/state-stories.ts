import type { Route } from 'playwright-core';
import { expect, it } from 'vitest';
import { amount } from '../support/amounts.ts';
import { type ConsoleWorld, violationsOn } from './console-world.ts';
import { arrive } from './party.ts';

/** States of screens that last for a moment, or that need a fault. Only a full run opens them. */
export function tellStates(world: () => ConsoleWorld): void {
  it.runIf(amount({ sample: false, full: true }))(
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
      await page.getByText('Uploading a.csv').first().waitFor();

      await page.getByRole('button', { name: 'Cancel the upload' }).click();
      await page.getByText('The upload was cancelled').waitFor();
      await look('a cancelled upload');

      storage = 'refuses';
      await page.getByRole('button', { name: 'Upload again' }).click();
      await page.getByText('Storage refused the file with status 400.').waitFor();
      await look('a refused upload');

      storage = 'takes';
      await page.getByRole('button', { name: 'Upload again' }).click();
      await page.getByRole('button', { name: 'Download a.csv' }).waitFor();

      await page.goto('/console/domains/d9/computations');
      await page.getByText('You have no role in the domain d9').waitFor();
      await look('no access');
      expect(found).toEqual({});
    },
  );
}
