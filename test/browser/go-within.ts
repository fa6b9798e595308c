import type { Page } from 'playwright-core';

/** Goes to an address of the console without loading the console anew. */
export async function goWithin(page: Page, path: string): Promise<void> {
  await page.evaluate(`history.pushState(null, '', ${JSON.stringify(path)}); dispatchEvent(new PopStateEvent('popstate'))`);
}
