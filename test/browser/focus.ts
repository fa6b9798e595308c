import type { Page } from 'playwright-core';

/** Returns what the element that has the focus is called: the label of a field, or its text. */
export async function nameOfFocus(page: Page): Promise<string> {
  return await page.evaluate<string>(
    '(document.activeElement?.labels?.[0] ?? document.activeElement)?.textContent?.trim() ?? ""',
  );
}

export async function isFocusIn(page: Page, selector: string): Promise<boolean> {
  return await page.evaluate<boolean>(`Boolean(document.activeElement?.closest('${selector}'))`);
}
