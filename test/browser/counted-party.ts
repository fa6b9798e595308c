import type { Locator } from 'playwright-core';
import type { ConsoleWorld } from './console-world.ts';
import { enter, type Party } from './party.ts';

/** A user at a browser whose clicks are counted, but not those that choose a file: on the button and in the dialog of the system. */
export interface CountedParty extends Party {
  main: Locator;
  press: (button: string, within?: Locator) => Promise<void>;
  follow: (link: string | RegExp) => Promise<void>;
  /** Types into a field, after a click into it unless it has the focus. */
  type: (field: Locator, text: string) => Promise<void>;
  choose: (file: Parameters<Locator['setInputFiles']>[0]) => Promise<void>;
  /** Adds a key to the computation. @param key default: one that is made on the way */
  addKey: (key?: string) => Promise<void>;
  clicks: () => Promise<number>;
}

/** Signs a user in, which takes a click. */
export async function enterCounted(world: ConsoleWorld, user: string, ...roles: string[]): Promise<CountedParty> {
  // Evidence whose log is pending is 409, and a busy service 503. The client asks again.
  const party = await enter(world, { user, roles, provokes: /status of (409|503)/ });
  const { page } = party;
  await page.evaluate(countClicks);
  await page.evaluate(refreshOften);
  const main = page.locator('main');
  const press = (button: string, within = main) => within.getByRole('button', { name: button, exact: true }).click();
  return {
    ...party,
    main,
    press,
    follow: (link) => main.getByRole('link', { name: link, exact: true }).first().click(),
    type: async (field, text) => {
      if (!(await field.evaluate(hasFocus))) await field.click();
      await page.keyboard.insertText(text);
    },
    choose: (file) => main.locator('input[type=file]').first().setInputFiles(file),
    addKey: async (key) => {
      await press('Add your key');
      const dialog = page.getByRole('dialog');
      await (key === undefined ? press('Make a key', dialog) : page.keyboard.insertText(key));
      await press('Upload', dialog);
      await main.getByText('Your public key is here').waitFor();
    },
    clicks: () => page.evaluate<number>("1 + Number(sessionStorage.getItem('clicks'))"),
  };
}

/** Returns the sum of the clicks of all. */
export async function clicksOf(...parties: CountedParty[]): Promise<number> {
  const counts = await Promise.all(parties.map(({ clicks }) => clicks()));
  return counts.reduce((sum, count) => sum + count);
}

const hasFocus = (field: { ownerDocument: { activeElement: unknown } }) => field.ownerDocument.activeElement === field;

const countClicks = `addEventListener('pointerdown', () => {
  sessionStorage.setItem('clicks', 1 + Number(sessionStorage.getItem('clicks')));
}, true)`;

/** Lets the screens that load again by themselves do so every five seconds, so that nobody waits long for what others did. */
const refreshOften = `{
  const every = setInterval;
  setInterval = (act, time) => every(act, Math.min(time, 5_000));
}`;
