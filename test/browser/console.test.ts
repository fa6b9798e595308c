import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ConsoleWorld, signIn, startConsoleWorld, violationsOn } from './console-world.ts';
import { findChromium } from './chromium.ts';
import { enter } from './party.ts';

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
  });

  it('takes two parties from nothing to a completed run', async () => {
    const alice = await enter(world, { user: 'alice', roles: ['creator', 'result_consumer'] });
    const bob = await enter(world, { user: 'bob', roles: ['dataset_provider'] });

    const computation = await alice.createComputation('Body mass by species');
    await alice.uploadInto(computation, { file: 'penguin-sizes.py', type: 'Algorithm' });
    await alice.uploadKey('Body mass by species');

    await bob.uploadInto(computation, { file: 'penguins.csv', type: 'Dataset', use: 'With my approval' });
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
    await bob.page.getByRole('table').getByText('Completed').first().waitFor();
    expect([...alice.faults, ...bob.faults]).toEqual([]);
  });
});
