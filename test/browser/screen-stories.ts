import { expect, it } from 'vitest';
import { type ConsoleWorld, rulesOfLook, violationsOn } from './console-world.ts';
import { goWithin } from './go-within.ts';
import { arrive } from './party.ts';
import { clientOf, readyComputation } from './seed.ts';

/** A screen, its address, the heading that it shows, and a fact that no window is too narrow for. */
type Screen = readonly [title: string, path: string, heading: string, fact?: string];

/** How each screen is looked at. */
const looks = [
  { width: 1280, colorScheme: 'light', rules: undefined },
  { width: 360, colorScheme: 'dark', rules: rulesOfLook },
] as const;

export function tellEveryScreen(world: () => ConsoleWorld): void {
  it('fits 1280 px in light and 360 px in dark on every screen, and has no finding of axe', async () => {
    const screens = await seedScreens(world());
    const notFound = /status of 404/; // the unknown computation
    const { page } = await arrive(world(), {
      user: 'alice',
      roles: ['administrator'],
      more: 'empty:administrator',
      provokes: notFound,
    });
    const found: Record<string, string[]> = {};
    for (const [title, path, heading, fact = ''] of screens) {
      await goWithin(page, path.startsWith('/') ? path : `/console/domains/d1/${path}`);
      await page.getByRole('heading', { level: 1, name: heading }).waitFor();
      for (const { width, colorScheme, rules } of looks) {
        await page.setViewportSize({ width, height: 900 });
        await page.emulateMedia({ colorScheme });
        await expect.poll(() => page.evaluate<boolean>(isSettled), { message: `${title} at ${width} px` }).toBe(true);
        const faults = await violationsOn(page, rules);
        if (!(await page.locator('main').innerText()).includes(fact)) faults.push(`no ${fact}`);
        if (faults.length > 0) found[`${title}, ${width} px`] = faults;
      }
    }
    expect(found).toEqual({});
  });
}

async function seedScreens(world: ConsoleWorld): Promise<Screen[]> {
  const { id, asset } = await readyComputation(world, 'Seen everywhere');
  const client = await clientOf(world, 'alice', ['d1:administrator']);
  await client.registerCvm({ cvmID: 'cvm.1', body: { description: 'Rack 1' } });
  const run = await client.startRun({ id, cvm: `sim-${id.slice(-8)}` });
  return [
    ['home', '/console/', 'Domains'],
    ['to do', 'todo', 'To do'],
    ['computations', 'computations', 'Computations'],
    ['a new computation', 'computations/new', 'Create computation'],
    ['a computation', `computations/${id}`, 'Seen everywhere'],
    ['its manifest', `computations/${id}?tab=manifest`, 'Seen everywhere'],
    ['its runs', `computations/${id}?tab=runs`, 'Seen everywhere', 'Started by'],
    ['its events', `computations/${id}?tab=events`, 'Seen everywhere', 'fingerprint'],
    ['its configuration', `computations/${id}?tab=configuration`, 'Seen everywhere'],
    ['a change of it', `computations/${id}/edit`, 'Edit'],
    ['a run', `computations/${id}/runs/${run}`, 'Run of'],
    ['runs', 'runs', 'Runs', 'Started by'],
    ['assets', 'assets', 'Assets', 'Creator'],
    ['a new asset', 'assets/new', 'Upload asset'],
    ['an asset', `assets/${asset}`, 'penguin-sizes.py'],
    ['CVMs', 'cvms', 'CVMs', 'Rack 1'],
    ['a CVM', 'cvms/cvm.1', 'cvm.1'],
    ['statistics', 'statistics', 'Statistics'],
    ['nothing to do', '/console/domains/empty/todo', 'To do'],
    ['no computations', '/console/domains/empty/computations', 'Computations'],
    ['no runs', '/console/domains/empty/runs', 'Runs'],
    ['no assets', '/console/domains/empty/assets', 'Assets'],
    ['no CVMs', '/console/domains/empty/cvms', 'CVMs'],
    ['no screen', 'nothing/here', 'No such page'],
    ['an unknown computation', 'computations/00000000-0000-8000-8000-000000000000', 'Computation'],
  ];
}

/** An expression that is true when the screen shows everything, and fits the window. */
const isSettled = `!/\\bLoading\\b/.test(document.querySelector('main')?.innerText ?? 'Loading')
  && document.documentElement.scrollWidth <= innerWidth`;
