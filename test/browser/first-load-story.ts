import { gzipSync } from 'node:zlib';
import type { Response } from 'playwright-core';
import { expect, it } from 'vitest';
import { type ConsoleWorld, signIn } from './console-world.ts';

/** The budget of the first load: scripts, styles and fonts, as CloudFront compresses them. */
const mostKilobytes = 650;
/** The most files of the first load: each of them costs a request. */
const mostFiles = 15;

export function tellOfTheFirstLoad(world: () => ConsoleWorld): void {
  it(`loads less than ${mostKilobytes} KB, compressed, in at most ${mostFiles} files until the list of computations is shown, and says meanwhile that it opens`, async () => {
    const page = await world().openTab();
    const loaded: Response[] = [];
    page.on('response', (response) => {
      if (new URL(response.url()).pathname.startsWith('/console/')) loaded.push(response);
    });
    const scripts = Promise.withResolvers<undefined>();
    await page.route(/\.js$/, async (route) => {
      await scripts.promise;
      await route.continue();
    });
    await page.goto('/console/domains/d1/computations', { waitUntil: 'commit' });
    await page.getByText('Opening the console').waitFor();
    scripts.resolve(undefined);
    await page.getByRole('heading', { name: 'Sign in on this machine' }).waitFor();
    await page.unroute(/\.js$/);
    const sizes = new Map<string, number>();
    const addSizes = async () => {
      for (const response of loaded.splice(0)) {
        const isCompressed = response.url().endsWith('.woff2');
        const body = await response.body().catch(() => undefined); // a page that is left drops what it loaded
        if (body) sizes.set(response.url(), isCompressed ? body.length : gzipSync(body).length);
      }
    };
    await addSizes();
    await signIn(page, { user: 'alice', roles: ['administrator'] });
    await page.getByRole('heading', { name: /^Computations/, level: 1 }).waitFor();
    await page.evaluate('document.fonts.ready.then(() => undefined)');
    await addSizes();
    const kilobytes = [...sizes.values()].reduce((sum, size) => sum + size, 0) / 1_000;
    expect([...sizes.keys()].some((url) => url.endsWith('.css'))).toBe(true);
    expect(kilobytes).toBeGreaterThan(100); // else something was not counted
    expect(kilobytes).toBeLessThan(mostKilobytes);
    expect(sizes.size).toBeLessThanOrEqual(mostFiles);
  });
}
