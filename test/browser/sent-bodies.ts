import type { Page } from 'playwright-core';

/** Keeps the bodies of all requests that the page sends from now on. Returns a function that reads them, one after the other. */
export async function keepSentBodies(page: Page): Promise<() => Promise<string>> {
  await page.evaluate(`{
    const send = globalThis.fetch;
    globalThis.sentBodies = [];
    globalThis.fetch = async (request, options) => {
      const sent = request instanceof Request ? await request.clone().text() : String(options?.body ?? '');
      globalThis.sentBodies.push(sent);
      return send(request, options);
    };
  }`);
  return () => page.evaluate<string>('globalThis.sentBodies.join("\\n")');
}
