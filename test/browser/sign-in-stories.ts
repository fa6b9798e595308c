import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TokenSet } from 'computation-management-client';
import type { Page } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Terminal } from '../../packages/cms/terminal/terminal.ts';
import { amount } from '../support/amounts.ts';
import { cmsIn } from '../packages/cms/fake-terminal.ts';
import { type ConsoleWorld, signIn, violationsOn } from './console-world.ts';
import { arrive, enter } from './party.ts';

const isFull = amount({ sample: false, full: true });
const unauthorized = /status of 401/;

export function tellHowToSignIn(world: () => ConsoleWorld): void {
  describe('signing in', () => {
    it('tells a page to which it cannot lead back what to do, before a form is filled in', async () => {
      const page = await world().openTab();
      const asked = new URLSearchParams({ client_id: 'local', redirect_uri: 'http://localhost:5173/' });
      await page.goto(`/local/issuer/sign-in?${String(asked)}`);
      await page.getByText('The page at http://localhost:5173/ cannot sign users in here').waitFor();
      expect(await page.getByLabel('User name').isVisible()).toBe(false);
      expect(await violationsOn(page)).toEqual([]);
    });

    it('asks who one is, returns to the address that was opened, keeps it after a reload, and never shows it again once tokens are gone', async () => {
      const page = await world().openTab();
      await page.goto('/console/domains/d1/assets?type=dataset#top');
      await page.getByRole('heading', { name: 'Sign in on this machine' }).waitFor();
      expect(await violationsOn(page)).toEqual([]);
      await signIn(page, { user: 'alice', roles: ['viewer'] });
      await page.getByRole('heading', { name: /^Assets/ }).waitFor();
      expect(page.url()).toBe(`${world().stack.baseUrl}/console/domains/d1/assets?type=dataset#top`);
      await page.reload();
      await page.getByRole('heading', { name: /^Assets/ }).waitFor();
      await page.getByRole('button', { name: 'User: alice' }).waitFor();

      // What the browser does with Back after signing out in this tab: it shows the page as it was, with its tokens in memory.
      await page.evaluate("sessionStorage.clear(); dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))");
      await page.getByRole('heading', { name: 'Sign in on this machine' }).waitFor();
      await page.goto('/console/domains/d4/cvms');
      await page.getByRole('heading', { name: 'Sign in on this machine' }).waitFor();
      await expect.poll(() => page.getByLabel('Domain', { exact: true }).inputValue()).toBe('d4');
    });

    it('renews an access token that has expired or is refused without asking, and asks again when it cannot', async () => {
      const { page } = await enter(world(), { user: 'alice', roles: ['viewer'], provokes: unauthorized });
      const first = await storedTokens(page);
      await storeTokens(page, { ...first, expires_at: 0 });
      await page.reload();
      await page.getByRole('heading', { name: /^Computations/, level: 1 }).waitFor();
      const renewed = await storedTokens(page);
      expect(renewed.access_token).not.toBe(first.access_token);
      expect(renewed.expires_at).toBeGreaterThan(Date.now() / 1_000);

      await spoilToken(page);
      await page.reload();
      await page.getByRole('heading', { name: /^Computations \(\d/, level: 1 }).waitFor();
      expect((await storedTokens(page)).access_token).not.toBe(renewed.access_token);

      await spoilToken(page, { isLast: true });
      await page.goto('/console/domains/d1/cvms');
      await signIn(page, { user: 'alice', roles: ['viewer'] });
      await page.getByRole('heading', { name: /^CVMs/ }).waitFor();
    });

    it.runIf(isFull)('is kept when the issuer is away at a reload, and is not called a missing one', async () => {
      const { page } = await enter(world(), { user: 'alice', roles: ['viewer'], provokes: /ERR_FAILED/ });
      await storeTokens(page, { ...(await storedTokens(page)), expires_at: 0 });
      await page.route('**/local/issuer/**', (route) => route.abort());
      await page.reload();
      await page.getByRole('heading', { name: 'Your sign-in could not be checked' }).waitFor();
      expect(await violationsOn(page)).toEqual([]);
      await page.unroute('**/local/issuer/**');
      await page.getByRole('link', { name: 'Try again' }).click();
      await page.getByRole('heading', { name: /^Computations/, level: 1 }).waitFor();
    });

    it('is not shared by a duplicate of the tab, which would use the same refresh token', async () => {
      const { page } = await enter(world(), { user: 'alice', roles: ['viewer'] });
      const before = await storedTokens(page);
      const opened = page.waitForEvent('popup');
      await page.evaluate('void open(location.href)'); // copies the storage, as a duplicate does
      const copy = await opened;
      await copy.getByRole('heading', { name: 'Sign in on this machine' }).waitFor();
      await page.reload();
      await page.getByRole('heading', { name: /^Computations/, level: 1 }).waitFor();
      expect(await storedTokens(page)).toEqual(before);
    });

    it('ends with signing out, which leaves no token in the tab', async () => {
      const { page } = await arrive(world(), { user: 'alice', roles: ['viewer'] });
      await page.getByRole('button', { name: 'User: alice' }).click();
      await page.getByRole('menuitem', { name: 'Sign out' }).click();
      await page.getByRole('heading', { name: 'You are signed out' }).waitFor();
      expect(await page.evaluate(() => Object.keys(sessionStorage))).not.toContain('console.tokens');
      expect(await violationsOn(page)).toEqual([]);
      await page.getByRole('link', { name: 'Sign in' }).click();
      await page.getByRole('heading', { name: 'Sign in on this machine' }).waitFor();
    });

    it('is asked for once, and not without end, when the API refuses each token', async () => {
      const { page } = await arrive(world(), { user: 'alice', roles: ['viewer'], provokes: unauthorized });
      await spoilToken(page, { isLast: true });
      await page.goto('/console/domains/d1/cvms');
      await signIn(page, { user: 'alice', roles: ['viewer'] });
      await page.getByRole('heading', { name: /^CVMs/ }).waitFor();
      await spoilToken(page, { isLast: true });
      // The token before was refused less than a minute ago, however long the steps have taken here.
      await page.evaluate(() => {
        if (sessionStorage.getItem('console.refused')) sessionStorage.setItem('console.refused', String(Date.now()));
      });
      await page.reload();
      await page.getByRole('heading', { name: 'You are not signed in' }).waitFor();
      expect(await page.textContent('main')).toContain('The service refuses the token');
      await page.getByRole('link', { name: 'Try again' }).click();
      await signIn(page, { user: 'alice', roles: ['viewer'] });
      await page.getByRole('heading', { name: /^CVMs/ }).waitFor();
    });

    it('is asked for without a notice when the issuer no longer renews the token of several requests at once', async () => {
      const { page, createComputation } = await arrive(world(), {
        user: 'alice',
        roles: ['administrator'],
        provokes: /status of 40[01]/,
      });
      const id = await createComputation('Refused');
      await storeTokens(page, { ...(await storedTokens(page)), refresh_token: 'revoked' });
      await spoilToken(page);
      await page.addInitScript(noteNotices);
      const refused: string[] = [];
      const several = Promise.withResolvers<undefined>();
      page.on('response', (response) => {
        if (response.status() === 401) refused.push(response.url());
        if (refused.length === 2) several.resolve(undefined);
      });
      await page.route('**/local/issuer/token', async (route) => {
        await several.promise;
        await route.continue();
      });
      await page.goto(`/console/domains/d1/computations/${id}`);
      await page.getByRole('heading', { name: 'Sign in on this machine' }).waitFor();
      expect(await page.evaluate(() => sessionStorage.getItem('notice'))).toBeNull();
    });

    it('ends at the address that a sign-out leads to', async () => {
      const { page } = await arrive(world(), { user: 'alice', roles: ['viewer'] });
      await page.goto('/console/?signed-out');
      await page.getByRole('heading', { name: 'You are signed out' }).waitFor();
      expect(await page.evaluate(() => Object.keys(sessionStorage))).not.toContain('console.tokens');
    });

    it('says why it failed, and leads to the address that was opened when one tries again', async () => {
      const page = await world().openTab();
      await page.goto('/console/domains/d1/assets?type=dataset');
      await page.getByRole('heading', { name: 'Sign in on this machine' }).waitFor();
      const answer = new URL('/console/', world().stack.baseUrl);
      const state = new URL(page.url()).searchParams.get('state') ?? '';
      answer.search = String(new URLSearchParams({ error: 'access_denied', error_description: 'Not you.', state }));
      await page.goto(answer.href);
      await page.getByRole('heading', { name: 'You are not signed in' }).waitFor();
      expect(await page.textContent('main')).toContain('Not you.');
      await page.getByRole('link', { name: 'Try again' }).click();
      await signIn(page, { user: 'alice', roles: ['viewer'] });
      await page.getByRole('heading', { name: /^Assets/ }).waitFor();
      expect(new URL(page.url()).search).toBe('?type=dataset');
    });
  });

  describe('cms login at the issuer of npm start', () => {
    it('takes the user who signs in with the browser', async () => {
      const page = await world().openTab();
      const opened = Promise.withResolvers<string>();
      const login = cmsOf({ openPage: opened.resolve })('login', ...issuerOptions(world()));
      await page.goto(await beforeEnd(login, opened.promise));
      await signIn(page, { user: 'carol', roles: ['creator'] });
      await page.getByText('You are signed in. You can close this page.').waitFor();
      expect(await login).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('as carol, creator in the domain d1') });
    });

    it('takes the user who types the code of the terminal in a browser, and can then call the API', async () => {
      const page = await world().openTab({ provokes: /status of 404/ }); // a wrong code
      const { shown, cms } = deviceTerminal();
      const login = cms('login', ...issuerOptions(world()), '--device');
      const { address, code } = await beforeEnd(login, shown);
      await page.goto(address.split('?')[0] ?? '');
      await page.getByLabel('Code, as the terminal shows it').fill('BCDF-BCDF');
      await signIn(page, { user: 'dave', roles: ['viewer'] });
      await page.getByText('No sign-in waits with this code').waitFor();
      expect(await violationsOn(page)).toEqual([]);
      await page.getByLabel('Code, as the terminal shows it').fill(code.toLowerCase());
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByText('You are signed in as dave. Go back to the terminal.').waitFor();
      expect(await login).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('as dave, viewer in the domain d1') });
      expect(await cms('todo')).toMatchObject({ exitCode: 0, stdout: 'Nothing waits for you.\n' });
    });

    it('ends when the user refuses the code', async () => {
      const page = await world().openTab();
      const { shown, cms } = deviceTerminal();
      const login = cms('login', ...issuerOptions(world()), '--device');
      await page.goto((await beforeEnd(login, shown)).address);
      await page.getByRole('button', { name: 'Refuse' }).click();
      await page.getByText('The sign-in is refused.').waitFor();
      expect(await login).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('The user refused.') });
    });
  });
}

function issuerOptions({ stack: { baseUrl } }: ConsoleWorld): string[] {
  return ['--server', baseUrl, '--domain', 'd1', '--issuer', `${baseUrl}/local/issuer`, '--client-id', 'local'];
}

/** Returns what a command shows while it runs. @throws Error with its outcome if the command ends first */
async function beforeEnd<T>(command: Promise<unknown>, shown: Promise<T>): Promise<T> {
  return await Promise.race([
    shown,
    command.then((outcome) => {
      throw new Error(`The command has ended: ${JSON.stringify(outcome)}`);
    }),
  ]);
}

/** A terminal with a home of its own. */
function cmsOf(terminal: Partial<Terminal>): ReturnType<typeof cmsIn> {
  const home = mkdtempSync(join(tmpdir(), 'cms-'));
  onTestFinished(() => rmSync(home, { recursive: true }));
  return cmsIn(home, terminal);
}

/** A terminal with the page and the code that it shows. */
function deviceTerminal() {
  const shown = Promise.withResolvers<{ address: string; code: string }>();
  const err = (text: string) => {
    const [, address, code] = /^Open (\S+)\nCheck that it shows the code (\S+)$/m.exec(text) ?? [];
    if (address !== undefined && code !== undefined) shown.resolve({ address, code });
  };
  const printed: string[] = [];
  const cms = cmsOf({ err: (text) => (printed.push(text), err(text)) });
  return {
    shown: shown.promise,
    cms: async (...args: string[]) => ({ ...(await cms(...args)), stderr: printed.join('') }),
  };
}

/** Keeps the title of a notice that the console shows, even if the page is replaced at once. */
const noteNotices = `
  new MutationObserver(() => {
    const title = document.querySelector('.sign-in-notice h1')?.textContent;
    if (title) sessionStorage.setItem('notice', title);
  }).observe(document, { childList: true, subtree: true });
`;

async function storedTokens(page: Page): Promise<TokenSet> {
  return JSON.parse(await page.evaluate(() => sessionStorage.getItem('console.tokens') ?? '{}')) as TokenSet;
}

async function storeTokens(page: Page, tokens: TokenSet): Promise<void> {
  await page.evaluate((text) => sessionStorage.setItem('console.tokens', text), JSON.stringify(tokens));
}

/** Makes the API refuse the token of this tab. If it is the last one, it cannot be renewed either. */
async function spoilToken(page: Page, { isLast = false } = {}): Promise<void> {
  const { refresh_token, ...tokens } = await storedTokens(page);
  const renewable = isLast || refresh_token === undefined ? {} : { refresh_token };
  await storeTokens(page, { ...tokens, ...renewable, access_token: `${tokens.access_token}x` });
}
