import type { Page } from 'playwright-core';

/** Presses an action of the screen: a button, or an entry of the menu of a computation. */
export async function pressAction(page: Page, name: string): Promise<void> {
  const more = page.locator('main').getByRole('button', { name: 'More actions' });
  const isInMenu = ['Delete', 'Duplicate'].includes(name) && (await more.count()) > 0;
  if (isInMenu) await more.click();
  await (isInMenu ? page.getByRole('menuitem', { name }) : page.getByRole('button', { name, exact: true }).first()).click();
}
