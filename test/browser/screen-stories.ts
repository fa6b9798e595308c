import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { amount, sampleSeed } from '../support/amounts.ts';
import { type ConsoleWorld, rulesOfLook, violationsOn } from './console-world.ts';
import { goWithin } from './go-within.ts';
import { arrive } from './party.ts';
import { pressAction } from './press-action.ts';
import { clientOf, readyComputation } from './seed.ts';

interface Screen {
  title: string;
  /** A path in the domain d1, or from the root, with the names of what is seeded in braces. */
  path: string;
  heading: string;
  /** A fact that no window is too narrow for. */
  fact?: string;
  /** Buttons that open a dialog. */
  dialogs?: string[];
}

const unknown = '00000000-0000-8000-8000-000000000000';

/** All screens, in groups that are looked at for about as long. */
const groups: Record<string, Screen[]> = {
  'the first ones and forms': [
    { title: 'home', path: '/console/', heading: 'Domains' },
    { title: 'to do', path: 'todo', heading: 'To do' },
    { title: 'computations', path: 'computations', heading: 'Computations' },
    { title: 'a new computation', path: 'computations/new', heading: 'Create computation' },
    { title: 'a change of a computation', path: 'computations/{id}/edit', heading: 'Edit' },
    { title: 'a new asset', path: 'assets/new', heading: 'Upload asset' },
  ],
  'those of a computation': [
    { title: 'a computation', path: 'computations/{id}', heading: 'Seen everywhere' },
    { title: 'its manifest', path: 'computations/{id}?tab=manifest', heading: 'Seen everywhere' },
    { title: 'its runs', path: 'computations/{id}?tab=runs', heading: 'Seen everywhere', fact: 'Started by' },
    { title: 'its events', path: 'computations/{id}?tab=events', heading: 'Seen everywhere', fact: 'fingerprint' },
    { title: 'its configuration', path: 'computations/{id}?tab=configuration', heading: 'Seen everywhere' },
    {
      title: 'its approval',
      path: 'computations/{id}/approve',
      heading: 'Review and approve',
      fact: 'What your approval does not protect',
    },
  ],
  'a computation that nobody has run, and its dialogs': [
    {
      title: 'the computation',
      path: 'computations/{other}',
      heading: 'Asked about',
      dialogs: ['Start run', 'Replace key', 'Remove key', 'Link asset', 'Delete'],
    },
  ],
  'runs, assets and CVMs': [
    { title: 'a run', path: 'computations/{id}/runs/{run}', heading: 'Run of' },
    { title: 'runs', path: 'runs', heading: 'Runs', fact: 'Started by' },
    { title: 'assets', path: 'assets', heading: 'Assets', fact: 'Creator' },
    { title: 'an asset', path: 'assets/{asset}', heading: 'seen-everywhere', dialogs: ['Edit', 'Delete'] },
    { title: 'CVMs', path: 'cvms', heading: 'CVMs', fact: 'Rack 1', dialogs: ['Register CVM'] },
    { title: 'a CVM', path: 'cvms/{cvm}', heading: 'cvm.', dialogs: ['Edit', 'Remove'] },
    { title: 'statistics', path: 'statistics', heading: 'Statistics' },
  ],
  'an empty domain and what does not exist': [
    { title: 'nothing to do', path: '/console/domains/empty/todo', heading: 'To do' },
    { title: 'no computations', path: '/console/domains/empty/computations', heading: 'Computations' },
    { title: 'no runs', path: '/console/domains/empty/runs', heading: 'Runs' },
    { title: 'no assets', path: '/console/domains/empty/assets', heading: 'Assets' },
    { title: 'no CVMs', path: '/console/domains/empty/cvms', heading: 'CVMs' },
    { title: 'no screen', path: 'nothing/here', heading: 'No such page' },
    {
      title: 'an unknown computation',
      path: `computations/${unknown}`,
      heading: 'Computation',
      fact: 'Open the list of computations',
    },
    { title: 'an unknown run', path: `computations/{id}/runs/${unknown}`, heading: 'Run' },
  ],
};

/**
 * Returns the ways to look at the screen with this number: with all rules of axe and all dialogs, and in dark. In a sample, the seed
 * chooses one of them, in dark with the rules of the look alone.
 */
const looksAt = (index: number) => {
  const whole = { width: 1280, colorScheme: 'light', rules: undefined } as const;
  const narrow = { width: 360, colorScheme: 'dark', rules: rulesOfLook } as const;
  return amount({ sample: [(index + sampleSeed) % 2 === 0 ? whole : narrow], full: [whole, narrow] });
};

export function tellEveryScreen(world: () => ConsoleWorld): void {
  describe('every screen, also with the longest words, fits 1280 px in light and 360 px in dark, and has no finding of axe', () => {
    let seeded: Record<string, string>;
    beforeAll(async () => {
      seeded = await seedScreens(world());
    });
    const arriveAnywhere = () =>
      arrive(world(), {
        user: 'alice',
        roles: ['administrator'],
        more: 'empty:administrator',
        provokes: /status of 404/, // the unknown computation and run
      });

    it.each(Object.entries(groups))('%s', async (_, screens) => {
      const { page } = await arriveAnywhere();
      const found: Record<string, string[]> = {};
      for (const [index, screen] of screens.entries()) {
        await goWithin(page, addressOf(screen, seeded));
        await page.getByRole('heading', { level: 1, name: screen.heading }).waitFor();
        for (const look of looksAt(index)) {
          const faults = await faultsOf(page, screen, look);
          if (faults.length > 0) found[`${screen.title}, ${look.width} px`] = faults;
        }
      }
      expect(found).toEqual({});
    });

    it('the navigation at 360 px', async () => {
      const { page } = await arriveAnywhere();
      await page.setViewportSize({ width: 360, height: 900 });
      await page.getByRole('button', { name: 'Open side navigation' }).click();
      await page.getByRole('link', { name: 'Statistics' }).waitFor();
      expect(await violationsOn(page)).toEqual([]);
    });
  });
}

/**
 * Lists what is wrong with the screen that is open: violations of axe, a missing fact, cells outside of the window, a primary action that
 * is far for the keyboard.
 */
async function faultsOf(
  page: Page,
  { title, fact = '', dialogs = [] }: Screen,
  { width, colorScheme, rules }: ReturnType<typeof looksAt>[number],
): Promise<string[]> {
  await page.setViewportSize({ width, height: 900 });
  await page.emulateMedia({ colorScheme });
  await expect.poll(() => page.evaluate<boolean>(isSettled), { message: `${title} at ${width} px` }).toBe(true);
  const faults = await violationsOn(page, rules);
  if (!(await page.locator('main').innerText()).includes(fact)) faults.push(`no ${fact}`);
  faults.push(...(await page.evaluate<string[]>(cellsOutside)).map((cell) => `not in the window: ${cell}`));
  const stops = await page.evaluate<number>(stopsToPrimary);
  if (stops > 8) faults.push(`the primary action is ${stops} stops of Tab away`);
  for (const name of rules ? [] : dialogs) {
    await pressAction(page, name);
    await page.getByRole('dialog').waitFor();
    await expect.poll(() => page.evaluate<boolean>(isSettled), { message: name }).toBe(true);
    faults.push(...(await violationsOn(page)).map((fault) => `${name}: ${fault}`));
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
  }
  return faults;
}

function addressOf({ path }: Screen, seeded: Record<string, string>): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => seeded[name] ?? '');
  return filled.startsWith('/') ? filled : `/console/domains/d1/${filled}`;
}

/** Makes what the screens show, and returns its identifiers by the names in their paths. */
async function seedScreens(world: ConsoleWorld): Promise<Record<string, string>> {
  const client = await clientOf(world, 'alice', ['d1:administrator']);
  const name = longest('Seen everywhere', 200);
  const { id } = await readyComputation(world, name);
  await client.updateComputation({ id, body: { name, description: longest('https://example.com/', 1_000) } });
  const file_name = `${longest('seen-everywhere', 190)}.csv`;
  const description = longest('Described', 500);
  const { id: asset } = await client.createAsset({
    body: { asset: { file_name, asset_type: 'dataset', description, asset: '' } },
  });
  await client.linkAsset({ id: asset, computationID: id });
  const { id: other } = await readyComputation(world, 'Asked about');
  const cvm = longest('cvm.', 64);
  await client.registerCvm({ cvmID: cvm, body: { description: longest('Rack 1', 200) } });
  const run = await client.startRun({ id, cvm: `sim-${id.slice(-8)}` });
  return { id, asset, other, cvm, run };
}

/** An expression that is true when the screen shows everything, and fits the window. */
const isSettled = `!/\\bLoading\\b/.test(document.querySelector('main')?.innerText ?? 'Loading')
  && document.documentElement.scrollWidth <= innerWidth`;

/** An expression: the texts of the cells that one sees only after scrolling sideways. */
const cellsOutside = `[...document.querySelectorAll('main :is(td, th)')]
  .filter((cell) => cell.getBoundingClientRect().right > innerWidth).map((cell) => cell.innerText)`;

/**
 * An expression: how often one presses Tab from the heading until the primary action has the focus, or a field in which Enter does it. 0 on
 * a page without a primary action.
 */
const stopsToPrimary = `(() => {
  const primary = document.querySelector('main :is(button, a[class*=awsui_button])[class*=variant-primary]');
  if (!primary) return 0;
  const goal = primary.form?.querySelector('input:not([type=radio], [type=checkbox], [type=file])') ?? primary;
  const heading = document.querySelector('main h1');
  const isUnchecked = ({ type, name, checked }) => type === 'radio' && !checked && document.querySelector('[name="' + name + '"]:checked');
  const isBetween = (each) => heading.compareDocumentPosition(each) & Node.DOCUMENT_POSITION_FOLLOWING
    && (each === goal || goal.compareDocumentPosition(each) & Node.DOCUMENT_POSITION_PRECEDING);
  return [...document.querySelectorAll('a[href], button, input, select, textarea, [tabindex]')]
    .filter((each) => (each === goal || (each.tabIndex >= 0 && !each.disabled)) && each.checkVisibility({ visibilityProperty: true }))
    .filter((each) => isBetween(each) && !isUnchecked(each)).length;
})()`;

/** Returns a text of this length with a word that only its length ends. */
function longest(beginning: string, length: number): string {
  return beginning.padEnd(length, 'x');
}
