import { untilTestEnds } from '../support/patience.ts';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { publicKey } from '../support/ready-computation.ts';
import { type ConsoleWorld, violationsOn, withoutRefresh } from './console-world.ts';
import { isFocusIn, nameOfFocus } from './focus.ts';
import { arrive } from './party.ts';
import { clientOf, readyComputation } from './seed.ts';
import { digestsIn } from '../support/approval-digests.ts';

export function tellOfTheKeyboard(world: () => ConsoleWorld): void {
  it('is worked by the keyboard alone: the bars are skipped, a computation is created, a question asked and left, a CVM registered', async () => {
    const provokes = /ERR_FAILED|status of 40[04]/;
    const { page, open } = await arrive(world(), { user: 'alice', roles: ['administrator'], provokes });
    await page.keyboard.press('Tab');
    expect(await nameOfFocus(page)).toBe('Skip to the content');
    await page.keyboard.press('Enter');
    expect(await nameOfFocus(page)).toMatch(/^Computations/);
    await tabTo(page, 'Create computation');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Create computation' }).waitFor();
    await expect.poll(() => nameOfFocus(page)).toBe('Create computation');
    await tabTo(page, 'Name');
    await page.keyboard.type('By keyboard');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'By keyboard', level: 1 }).waitFor();
    expect(await tabTo(page, 'Add your key')).toBeLessThanOrEqual(8);
    await page.getByRole('button', { name: 'More actions' }).press('Enter');
    await page.getByRole('menuitem', { name: 'Delete' }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog');
    await dialog.waitFor();
    for (let presses = 0; presses < 8; presses++) {
      await page.keyboard.press('Tab');
      expect(await isFocusIn(page, '[role=dialog]')).toBe(true);
    }
    // A failure to load the screen again leaves the question open. The screen does not try by itself: Retry would go.
    await page.evaluate(withoutRefresh);
    await page.locator('[aria-label="Refresh"]:not([aria-disabled=true])').waitFor({ state: 'attached' });
    await page.route('**/d1/computations/**', (route) => route.abort());
    await page.evaluate(`document.querySelector('[aria-label="Refresh"]').click()`);
    await page.getByText('No service answers').waitFor({ state: 'attached' });
    expect(await dialog.isVisible()).toBe(true);
    await page.unroute('**/d1/computations/**');

    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    expect(await nameOfFocus(page)).toBe('More');
    const retry = page.getByRole('button', { name: 'Retry' });
    await retry.press('Enter');
    await retry.waitFor({ state: 'detached' });
    expect(await nameOfFocus(page)).toBe('By keyboard');
    await page.evaluate('delete document.visibilityState');

    // Enter sends the fields of a dialog. What the service finds wrong with one is said there, and only there.
    await open('cvms');
    await page.getByRole('button', { name: 'Register CVM' }).press('Enter');
    const identifier = page.getByRole('textbox', { name: 'Identifier' });
    await expect.poll(() => nameOfFocus(page)).toBe('Identifier');
    // After Escape, the next click on the button that has the focus is not lost.
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    const opener = await page.getByRole('button', { name: 'Register CVM' }).boundingBox();
    await page.mouse.click((opener?.x ?? 0) + 20, (opener?.y ?? 0) + 2);
    await identifier.waitFor();
    await identifier.fill('by keyboard');
    await identifier.press('Enter');
    await dialog.getByText('Correct the fields that are marked.').waitFor();
    expect(await dialog.getByText('Expected 1 to 64 of the characters').count()).toBe(1);
    expect(await dialog.getByText('path/cvmID').count()).toBe(0);
    expect(await violationsOn(page)).toEqual([]);
    await identifier.fill('by-keyboard');
    await identifier.press('Enter');
    await page.getByRole('heading', { name: 'by-keyboard', level: 1 }).waitFor();
  });

  it('keeps the focus at the heading above it when the button that had it goes, and says in the window what was done', async () => {
    const { id } = await readyComputation(world(), 'Loses its buttons');
    const client = await clientOf(world(), 'alice', ['d1:administrator']);
    await client.approve({ id, body: digestsIn((await client.call('getManifest', { id })).response.headers) });
    const height = 400; // the top of the page is above the window
    const { page, open } = await arrive(world(), { user: 'alice', roles: ['administrator'], height, path: `computations/${id}` });
    const withdraw = page.getByRole('main').getByRole('button', { name: 'Withdraw' });
    await withdraw.press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: 'Withdraw', exact: true }).press('Enter');
    await withdraw.waitFor({ state: 'detached' });
    expect(await nameOfFocus(page)).toMatch(/^People/);
    const said = page.getByText('You have withdrawn your approval.');
    for (const width of [360, 1280]) {
      await page.setViewportSize({ width, height });
      await expect.poll(async () => (await said.boundingBox())?.y).toSatisfy((y: number) => y > 0 && y < height);
    }
    const close = page.getByRole('button', { name: 'Close the message' });
    await close.press('Enter');
    await close.waitFor({ state: 'detached' });
    expect(await nameOfFocus(page)).toBe('Loses its buttons');

    const unlink = page.getByRole('button', { name: 'Unlink penguin-sizes.py' });
    await unlink.press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: 'Unlink', exact: true }).press('Enter');
    await unlink.waitFor({ state: 'detached' });
    expect(await nameOfFocus(page)).toMatch(/^Inputs/);

    for (const [query, name] of [
      ['status=failed&owner=nobody', 'Clear the filters'],
      ['page=9', 'Go to the first page'],
    ] as const) {
      await open(`computations?${query}`);
      const button = page.getByRole('button', { name });
      await button.waitFor();
      expect(await page.getByRole('button', { name: 'Page 9' }).count()).toBe(0);
      await button.press('Enter');
      await button.waitFor({ state: 'detached' });
      expect(await nameOfFocus(page)).toMatch(/^Computations/);
    }

    const names = ['Needs a key', 'Needs a key too'];
    const dora = await clientOf(world(), 'dora', ['d1:creator']);
    for (const name of names) await dora.createComputation({ body: { name } });
    await expect.poll(async () => (await dora.getTodo()).totals.keys, untilTestEnds).toBe(2);
    const todo = await arrive(world(), { user: 'dora', roles: ['creator'], path: 'todo' });
    for (const [name, place] of [
      [names[0], /^Waiting for you/],
      [names[1], /^To do/],
    ] as const) {
      const upload = todo.page.getByRole('button', { name: `Upload key to ${name}`, exact: true });
      await upload.press('Enter');
      await todo.page.getByRole('textbox', { name: 'Public key' }).fill(publicKey());
      await todo.page.getByRole('dialog').getByRole('button', { name: 'Upload', exact: true }).press('Enter');
      await upload.waitFor({ state: 'detached' });
      await expect.poll(() => nameOfFocus(todo.page), untilTestEnds).toMatch(place);
    }
  });
}

/** Presses Tab until the element of this name has the focus, and returns how often. */
async function tabTo(page: Page, name: string): Promise<number> {
  for (let presses = 1; presses <= 60; presses++) {
    await page.keyboard.press('Tab');
    if ((await nameOfFocus(page)) === name) return presses;
  }
  throw new Error(`Tab does not reach ${name}.`);
}
