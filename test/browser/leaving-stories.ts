import type { Route } from 'playwright-core';
import { expect, it } from 'vitest';
import type { ConsoleWorld } from './console-world.ts';
import { arrive } from './party.ts';
import { clientOf, readyComputation } from './seed.ts';

export function tellOfLeaving(world: () => ConsoleWorld): void {
  it('keeps what is typed at a click beside a dialog, asks before a form is left, publishes no private key, and opens a closed section at an error', async () => {
    const { page, open } = await arrive(world(), {
      user: 'alice',
      roles: ['administrator'],
      provokes: /status of 400/,
      path: 'cvms',
    });
    await page.getByRole('button', { name: 'Register CVM' }).first().click();
    const dialog = page.getByRole('dialog', { name: 'Register a CVM' });
    const identifier = dialog.getByRole('textbox', { name: 'Identifier' });
    await identifier.fill('cvm-typed');
    await page.mouse.click(5, 450);
    expect(await identifier.inputValue()).toBe('cvm-typed');
    await identifier.press('Escape');
    await dialog.waitFor({ state: 'hidden' });

    const questions: string[] = [];
    let leaves = false;
    page.on('dialog', (question) => {
      questions.push(question.message());
      void (leaves ? question.accept() : question.dismiss());
    });
    await open('computations/new');
    const name = page.getByRole('textbox', { name: 'Name', exact: true });
    await name.fill('Typed for long');
    await page.getByRole('link', { name: 'Runs', exact: true }).click();
    await page.goBack();
    await page.getByRole('button', { name: 'User: alice' }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await expect.poll(() => questions.map((question) => question.includes('is not saved'))).toEqual([true, true, true]);
    expect(await name.inputValue()).toBe('Typed for long');
    leaves = true;
    await page.getByRole('link', { name: 'Runs', exact: true }).click();
    await page.getByRole('heading', { name: /^Runs/, level: 1 }).waitFor();

    await open('computations/new');
    await name.fill('Saved');
    await page.getByRole('button', { name: /^Agent/ }).click();
    const certificate = page.getByRole('textbox', { name: 'Certificate (optional)', exact: true });
    await certificate.fill('-----BEGIN CERTIFICATE-----\n...\n-----BEGIN PRIVATE KEY-----\n...');
    await page.getByText('This contains a private key, which every viewer would see.').first().waitFor();
    await page.getByRole('button', { name: 'Create computation', disabled: true }).waitFor();
    await certificate.fill('x'.repeat(20_000));
    await page.getByRole('button', { name: 'Create computation' }).click();
    await page.getByText('Correct the fields that are marked.').waitFor();
    await page.getByRole('button', { name: /^Agent/ }).click();
    await certificate.waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Create computation' }).click();
    await page.getByText('Expected a string of 0 to 16384 characters').first().waitFor();
    await certificate.fill('');
    await page.getByRole('button', { name: 'Create computation' }).click();
    await page.getByRole('heading', { name: 'Saved', level: 1 }).waitFor();
    expect(questions).toHaveLength(4);
  });

  it('cannot cancel what has been sent, and leads nobody away who has gone elsewhere meanwhile', async () => {
    const { id } = await readyComputation(world(), 'Started slowly');
    const client = await clientOf(world(), 'alice', ['d1:runner']);
    const { page, open } = await arrive(world(), { user: 'alice', roles: ['runner'], path: `computations/${id}` });
    const start = Promise.withResolvers<Route>();
    await page.route(/\/run\?cvm=/, (route) => start.resolve(route));
    await page.getByRole('button', { name: 'Start run' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('combobox').fill('sim-ignore-stop-left');
    await dialog.getByRole('button', { name: 'Start run' }).click();
    const held = await start.promise;
    await dialog.getByRole('button', { name: 'Cancel', disabled: true }).waitFor();
    await page.keyboard.press('Escape');
    expect(await dialog.isVisible()).toBe(true);

    await open('assets');
    await page.getByRole('heading', { name: /^Assets/, level: 1 }).waitFor();
    const answered = page.waitForResponse(/\/run\?cvm=/);
    await held.continue();
    await (await answered).finished();
    await page.evaluate('new Promise(requestAnimationFrame)');
    expect(new URL(page.url()).pathname).toBe('/console/domains/d1/assets');
    expect((await client.getRun({ id })).cvm_id).toBe('sim-ignore-stop-left');
    await client.stopRun({ id });
  });

  it('comes back to the place in a list that it left, and stays where it is when a file misses its field', async () => {
    const domainID = 'scrolled';
    const client = await clientOf(world(), 'alice', [`${domainID}:administrator`]);
    const names = Array.from({ length: 25 }, (_, index) => `Study ${index}`);
    for (const name of names) await client.createComputation({ domainID, body: { name } });
    const { page } = await arrive(world(), { user: 'alice', roles: ['administrator'], domain: domainID });
    await page.getByRole('link', { name: 'Study 24', exact: true }).waitFor();
    await page.setViewportSize({ width: 1280, height: 600 });
    const row = page.getByRole('link', { name: 'Study 14', exact: true });
    const below = () => page.evaluate('document.documentElement.scrollHeight - innerHeight');
    // The screen that Back leaves may be too short for the first place, and is long enough for the second.
    for (const place of [650, 150]) {
      await page.evaluate(`scrollTo(0, ${place})`);
      await expect.poll(() => page.evaluate('scrollY')).toBe(place);
      await row.evaluate((link) => (link as unknown as { click: () => void }).click());
      await page.getByRole('heading', { name: 'Study 14', level: 1 }).waitFor();
      expect(await page.evaluate('scrollY')).toBe(0);
      await expect.poll(below).toBeGreaterThan(150);
      await page.goBack();
      await expect.poll(() => page.evaluate('scrollY')).toBe(place);
    }
    const isKept = `['dragover', 'drop'].map((type) => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File(['a'], 'a.csv'));
      return !document.body.dispatchEvent(new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer }));
    })`;
    expect(await page.evaluate(isKept)).toEqual([true, true]);
  });
}
