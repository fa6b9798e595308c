import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ConsoleWorld, signIn, startConsoleWorld, violationsOn } from './console-world.ts';
import { findChromium } from './chromium.ts';
import { enter } from './party.ts';
import { clientOf, readyComputation } from './seed.ts';

const hasBrowser = (await findChromium()) !== undefined;
if (!hasBrowser) console.warn('The console is not tested: install Chrome, or set CHROMIUM to the path of a Chromium.');

describe.runIf(hasBrowser)('the web console', () => {
  let world: ConsoleWorld;
  beforeAll(async () => {
    const started = await startConsoleWorld();
    if (!started) throw new Error('There is no browser.');
    world = started;
  });
  afterAll(async () => {
    await world.stop();
  });

  describe('signing in', () => {
    it('asks who one is, returns to the address that was opened, and keeps it after a reload', async () => {
      const { page, faults } = await world.openTab();
      await page.goto('/console/domains/d1/assets?type=dataset#top');
      await page.getByRole('heading', { name: 'Sign in on this machine' }).waitFor();
      expect(await violationsOn(page)).toEqual([]);
      await signIn(page, { user: 'alice', roles: ['viewer'] });
      await page.getByRole('heading', { name: /^Assets/ }).waitFor();
      expect(page.url()).toBe(`${world.stack.baseUrl}/console/domains/d1/assets?type=dataset#top`);
      await page.reload();
      await page.getByRole('heading', { name: /^Assets/ }).waitFor();
      await page.getByRole('button', { name: 'User: alice' }).waitFor();
      expect(faults).toEqual([]);
    });

    it('renews an access token without asking, and asks again when the API refuses it', async () => {
      const { page } = await enter(world, { user: 'alice', roles: ['viewer'] });
      const first = await storedTokens(page);
      await storeTokens(page, { ...first, expiresAt: 0 });
      await page.reload();
      await page.getByRole('heading', { name: /^Computations/, level: 1 }).waitFor();
      const renewed = await storedTokens(page);
      expect(renewed.access).not.toBe(first.access);
      expect(renewed.expiresAt).toBeGreaterThan(Date.now());

      await storeTokens(page, { ...renewed, access: `${renewed.access}x` });
      await page.goto('/console/domains/d1/cvms');
      await signIn(page, { user: 'alice', roles: ['viewer'] });
      await page.getByRole('heading', { name: /^CVMs/ }).waitFor();
    });

    it('ends with signing out, which leaves no token in the tab', async () => {
      const { page, faults } = await enter(world, { user: 'alice', roles: ['viewer'] });
      await page.getByRole('button', { name: 'User: alice' }).click();
      await page.getByRole('menuitem', { name: 'Sign out' }).click();
      await page.getByRole('heading', { name: 'You are signed out' }).waitFor();
      expect(await page.evaluate(() => Object.keys(sessionStorage))).not.toContain('console.tokens');
      expect(await violationsOn(page)).toEqual([]);
      await page.getByRole('link', { name: 'Sign in' }).click();
      await page.getByRole('heading', { name: 'Sign in on this machine' }).waitFor();
      expect(faults).toEqual([]);
    });

    it('says why it failed', async () => {
      const { page } = await world.openTab();
      await page.goto('/console/');
      await page.getByRole('heading', { name: 'Sign in on this machine' }).waitFor();
      const answer = new URL('/console/', world.stack.baseUrl);
      answer.search = String(
        new URLSearchParams({ error: 'access_denied', error_description: 'Not you.', state: stateOf(page) }),
      );
      await page.goto(answer.href);
      await page.getByRole('heading', { name: 'You are not signed in' }).waitFor();
      expect(await page.textContent('main')).toContain('Not you.');
    });
  });

  it('takes two parties from nothing to a completed run', async () => {
    const alice = await enter(world, { user: 'alice', roles: ['creator', 'result_consumer'] });
    const bob = await enter(world, { user: 'bob', roles: ['dataset_provider'] });

    const computation = await alice.createComputation('Body mass by species');
    await alice.uploadInto(computation, { file: 'penguin-sizes.py', type: 'Algorithm' });
    await alice.uploadKey('Body mass by species');

    await bob.uploadInto(computation, { file: 'penguins.csv', type: 'Dataset', use: 'With my approval' });
    await bob.uploadKey('Body mass by species');
    await bob.open('todo');
    await bob.page.getByRole('link', { name: 'Review and approve Body mass by species' }).click();
    await bob.page.getByRole('button', { name: 'Approve', exact: true }).click();
    const manifest = bob.page.getByRole('dialog', { name: 'Approve this manifest' });
    await manifest.getByText('penguins.csv').first().waitFor();
    await manifest.getByRole('button', { name: 'Approve', exact: true }).click();
    await bob.page.getByText('Your approval is given.').waitFor();

    await alice.open(`computations/${computation}`);
    await alice.startRun('sim-1');
    await alice.page.getByText('The run completed').waitFor();
    await alice.page.getByRole('list', { name: 'Events of the run' }).getByText('Completed').first().waitFor();

    await bob.open(`computations/${computation}?tab=runs`);
    await bob.page.getByRole('grid', { name: 'Runs' }).getByText('Completed').waitFor();
    expect([...alice.faults, ...bob.faults]).toEqual([]);
  });

  it('shows the reason of a run that fails, and its events', async () => {
    const { id } = await readyComputation(world, 'Fails');
    const alice = await enter(world, { user: 'alice', roles: ['runner'] });
    await alice.open(`computations/${id}`);
    await alice.startRun('sim-fail-1');
    await alice.page.getByText('The run failed').waitFor();
    await alice.page.getByRole('list', { name: 'Events of the run' }).getByText('Algorithm run').waitFor();
    await alice.page.getByRole('button', { name: 'Download evidence' }).waitFor();
    await alice.open(`computations?status=failed`);
    await alice.page.getByRole('grid', { name: 'Computations' }).getByRole('link', { name: 'Fails' }).waitFor();
    expect(alice.faults).toEqual([]);
  });

  it('stops a run that goes on', async () => {
    const { id } = await readyComputation(world, 'Takes long');
    const alice = await enter(world, { user: 'alice', roles: ['runner'] });
    await alice.open(`computations/${id}`);
    await alice.startRun('sim-slow-1');
    await alice.page.getByRole('button', { name: 'Stop run' }).click();
    await alice.page.getByRole('dialog').getByRole('button', { name: 'Stop run' }).click();
    await alice.page.getByText('The run was cancelled').waitFor();
    expect(alice.faults).toEqual([]);
  });

  it('shows any page of a list with the exact total, and keeps filter and page in the address', async () => {
    const client = await clientOf(world, 'alice', ['d2:administrator']);
    for (let number = 1; number <= 30; number++)
      await client.createComputation({ domainID: 'd2', body: { name: `Number ${number}` } });
    const { page, faults } = await enter(world, { user: 'alice', roles: ['viewer'], domain: 'd2' });
    const list = page.getByRole('grid', { name: 'Computations' });
    await page.getByRole('heading', { name: 'Computations (30)' }).waitFor();
    await list.getByRole('link', { name: 'Number 30' }).waitFor();
    await page.getByRole('button', { name: 'Next page' }).click();
    await list.getByRole('link', { name: 'Number 1', exact: true }).waitFor();
    const address = page.url();
    expect(address).toContain('page=2');
    await list.getByRole('link', { name: 'Number 1', exact: true }).click();
    await page.getByRole('heading', { name: 'Number 1', level: 1 }).waitFor();
    await page.goBack();
    await list.getByRole('link', { name: 'Number 1', exact: true }).waitFor();
    expect(page.url()).toBe(address);
    await page.reload();
    await list.getByRole('link', { name: 'Number 1', exact: true }).waitFor();
    expect(faults).toEqual([]);
  });

  it('offers a viewer nothing that the API would refuse', async () => {
    const { id } = await readyComputation(world, 'Looked at');
    const carol = await enter(world, { user: 'carol', roles: ['viewer'] });
    expect(await carol.page.getByRole('link', { name: 'Create computation' }).count()).toBe(0);
    await carol.open(`computations/${id}`);
    await carol.page.getByRole('heading', { name: 'Looked at', level: 1 }).waitFor();
    for (const name of ['Start run', 'Delete', 'Link asset', 'Approve']) {
      expect(await carol.page.getByRole('button', { name, exact: true }).count()).toBe(0);
    }
    await carol.open('../d9/computations');
    await carol.page.getByText('You have no role in the domain d9').waitFor();
    expect(carol.faults).toEqual([]);
  });

  it('is worked by the keyboard alone: a computation is created, a question asked and left', async () => {
    const { page, faults } = await enter(world, { user: 'alice', roles: ['administrator'] });
    await tabTo(page, 'Create computation');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Create computation' }).waitFor();
    await tabTo(page, 'Name');
    await page.keyboard.type('By keyboard');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'By keyboard', level: 1 }).waitFor();
    await tabTo(page, 'Delete');
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog');
    await dialog.waitFor();
    for (let presses = 0; presses < 8; presses++) {
      await page.keyboard.press('Tab');
      expect(await page.evaluate(`document.activeElement?.closest('[role=dialog]') !== null`)).toBe(true);
    }
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    expect(await nameOfFocus(page)).toBe('Delete');
    expect(faults).toEqual([]);
  });

  describe('every screen', () => {
    let screens: [title: string, path: string, shown: string][];
    beforeAll(async () => {
      const { id, asset } = await readyComputation(world, 'Seen everywhere');
      const client = await clientOf(world, 'alice', ['d1:administrator']);
      await client.registerCvm({ cvmID: 'cvm.1', body: { description: 'Rack 1' } });
      const run = await client.startRun({ id, cvm: 'sim-1' });
      screens = [
        ['home', '/console/', 'Domains'],
        ['to do', 'todo', 'To do'],
        ['computations', 'computations', 'Computations'],
        ['a new computation', 'computations/new', 'Create computation'],
        ['a computation', `computations/${id}`, 'Seen everywhere'],
        ['its manifest', `computations/${id}?tab=manifest`, 'Seen everywhere'],
        ['its runs', `computations/${id}?tab=runs`, 'Seen everywhere'],
        ['its events', `computations/${id}?tab=events`, 'Seen everywhere'],
        ['its configuration', `computations/${id}?tab=configuration`, 'Seen everywhere'],
        ['a change of it', `computations/${id}/edit`, 'Edit'],
        ['a run', `computations/${id}/runs/${run}`, 'Run of'],
        ['runs', 'runs', 'Runs'],
        ['assets', 'assets', 'Assets'],
        ['a new asset', 'assets/new', 'Upload asset'],
        ['an asset', `assets/${asset}`, 'penguin-sizes.py'],
        ['CVMs', 'cvms', 'CVMs'],
        ['a CVM', 'cvms/cvm.1', 'cvm.1'],
        ['statistics', 'statistics', 'Statistics'],
        ['no screen', 'nothing/here', 'No such page'],
        ['an unknown computation', 'computations/00000000-0000-8000-8000-000000000000', 'Computation'],
      ];
    });

    it.each([
      { width: 1280, colorScheme: 'light' as const },
      { width: 360, colorScheme: 'dark' as const },
    ])('fits $width px and has no finding of axe, in $colorScheme', async (options) => {
      const { page } = await enter(world, { user: 'alice', roles: ['administrator'], more: 'd2:viewer', ...options });
      const found: Record<string, string[]> = {};
      for (const [title, path, shown] of screens) {
        await goWithin(page, path.startsWith('/') ? path : `/console/domains/d1/${path}`);
        await page.getByRole('heading', { level: 1, name: shown }).waitFor();
        await expect.poll(() => page.evaluate<boolean>(nothingLoads)).toBe(true);
        const wide = await page.evaluate<number>('document.documentElement.scrollWidth');
        const faults = await violationsOn(page);
        if (wide > options.width) faults.push(`${wide} px wide`);
        if (faults.length > 0) found[title] = faults;
      }
      expect(found).toEqual({});
    });
  });
});

/** Goes to an address of the console without loading the console anew. */
async function goWithin(page: Page, path: string): Promise<void> {
  await page.evaluate(`history.pushState(null, '', ${JSON.stringify(path)}); dispatchEvent(new PopStateEvent('popstate'))`);
}

/** An expression that is true when the screen shows everything. */
const nothingLoads = "!/\\bLoading\\b/.test(document.querySelector('main')?.innerText ?? 'Loading')";

interface Tokens {
  access: string;
  expiresAt: number;
}

async function storedTokens(page: Page): Promise<Tokens> {
  return JSON.parse(await page.evaluate(() => sessionStorage.getItem('console.tokens') ?? '{}')) as Tokens;
}

async function storeTokens(page: Page, tokens: Tokens): Promise<void> {
  await page.evaluate((text) => sessionStorage.setItem('console.tokens', text), JSON.stringify(tokens));
}

/** The `state` of the question that the console has asked the issuer. */
function stateOf(page: Page): string {
  return new URL(page.url()).searchParams.get('state') ?? '';
}

/** Presses Tab until the element of this name has the focus. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let presses = 0; presses < 60; presses++) {
    await page.keyboard.press('Tab');
    if ((await nameOfFocus(page)) === name) return;
  }
  throw new Error(`Tab does not reach ${name}.`);
}

async function nameOfFocus(page: Page): Promise<string> {
  return await page.evaluate<string>(
    '(document.activeElement?.labels?.[0] ?? document.activeElement)?.textContent?.trim() ?? ""',
  );
}
