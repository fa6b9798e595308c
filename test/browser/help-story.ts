import { expect, it } from 'vitest';
import { amount, sampleSeed } from '../support/amounts.ts';
import { type ConsoleWorld, violationsOn } from './console-world.ts';
import { arrive } from './party.ts';
import { helpOf, helpPages } from '../../packages/console/help/html-page.ts';

/** Questions of users, with the title that they find first and its place. */
const questions = [
  ['invite', 'Invite someone', 'participant.html#item-invite-someone'],
  ['policy', 'Decide on which machines: the policy', 'machines.html#.*'],
  ['how do I read the log', 'Read the log of a run', 'participant.html#item-read-the-log-of-a-run'],
  ['sign', 'Approve and sign it', 'participant.html#item-approve-and-sign-it'],
  ['exit codes', 'Exit codes', 'command-line.html#exit-codes'],
  ['renew certificate', 'Renew or revoke a certificate', 'cvm.html#renew-or-revoke-a-certificate'],
  ['log_access', 'Read the log of a run', 'participant.html#item-read-the-log-of-a-run'],
  ['notifications', 'Get mail', 'participant.html#item-get-mail-when-something-begins-to-wait-for-you'],
  ['stale', 'stale', 'glossary.html#item-stale'],
] as const;

export function tellOfTheHelp(world: () => ConsoleWorld): void {
  it('leads from the menu to each page of the help, whose links all work and whose search finds a word on any page', async () => {
    const { page } = await arrive(world(), { user: 'reader', roles: ['viewer'], domain: 'helped' });
    expect(await page.getByRole('link', { name: 'Help on this screen' }).getAttribute('href')).toBe(
      `/help/${helpOf.computations}`,
    );
    await page.getByRole('button', { name: 'Help', exact: true }).click();
    for (const { title } of helpPages) await page.getByRole('menuitem', { name: new RegExp(`^${title}`) }).waitFor();
    expect(await violationsOn(page)).toEqual([]);
    const opened = page.context().waitForEvent('page');
    await page.getByRole('menuitem', { name: 'Glossary' }).click();
    const glossary = await opened;
    await glossary.getByRole('heading', { name: 'Glossary', level: 1 }).waitFor();
    await glossary.close();

    const help = await world().openTab({ width: 360, height: 800, colorScheme: 'dark' });
    for (const [index, name] of ['', ...helpPages.map((known) => `${known.name}.html`)].entries()) {
      const answer = await help.goto(`/help/${name}`);
      expect([name, answer?.status()]).toEqual([name, 200]);
      expect(answer?.headers()['content-security-policy']).toContain("script-src 'self'; style-src 'self'");
      expect(await help.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
      if (amount({ sample: (index + sampleSeed) % 4 === 0, full: true })) {
        expect([name, await violationsOn(help)]).toEqual([name, []]);
        await help.emulateMedia({ colorScheme: 'light' });
        expect([name, await violationsOn(help, ['color-contrast'])]).toEqual([name, []]);
        await help.emulateMedia({ colorScheme: 'dark' });
      }
      const hrefs = await help.evaluate<string[]>("[...document.querySelectorAll('main a[href]')].map(({ href }) => href)");
      for (const url of hrefs.map((href) => new URL(href)).filter(({ origin }) => origin === new URL(help.url()).origin)) {
        expect(helpPages.map((known) => `/help/${known.name}.html`)).toContain(url.pathname);
        const text = await (await fetch(url)).text();
        if (url.hash) expect(text).toContain(`id="${url.hash.slice(1)}"`);
      }
    }
    for (const address of Object.values(helpOf)) {
      const [, part = ''] = address.split('#');
      expect(await (await fetch(new URL(`/help/${address}`, help.url()))).text()).toContain(`id="${part}`);
    }
    const results = help.locator('#results');
    for (const [asked, title, href] of questions) {
      await help.getByLabel('Search the help').fill(asked);
      await results.locator('li:first-child a').filter({ hasText: title }).waitFor();
      expect(await results.getByRole('link').first().getAttribute('href')).toMatch(new RegExp(`/help/${href}$`));
    }
    await help.getByText(/^Found \d+ sections?$/).waitFor();
    expect(await results.innerText()).toMatch(/stale/i);
    expect(await violationsOn(help)).toEqual([]);
    const section = (await results.getByRole('link').first().getAttribute('href')) ?? expect.unreachable('It leads nowhere.');
    await results.getByRole('link').first().click();
    await help.waitForURL((url) => url.href.endsWith(section)); // loaded, so that its script listens
    await expect.poll(() => help.locator('main').innerText()).toMatch(/stale/i);
    await help.getByLabel('Search the help').fill('zzqq');
    await help.getByText('Found 0 sections').waitFor();
  });
}
