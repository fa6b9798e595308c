import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { BrowserContext, Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';
import { buildConsole, type ConsoleMode } from '../../local/pages/console-build.ts';
import { startStack, type Stack } from '../../local/stack.ts';
import { amount } from '../support/amounts.ts';
import { findChromium, launchChromium } from './chromium.ts';
import { faintIconsOn } from './faint-icons.ts';

/** The service with its console, and a browser. */
export interface ConsoleWorld {
  stack: Stack;
  /** Serves another build of the console to tabs that are opened from now on. At first it is that for production. */
  serve: (mode: ConsoleMode) => void;
  /** Opens a tab in which nobody is signed in. It is closed when the test has ended. */
  openTab: (options?: TabOptions) => Promise<Page>;
  stop: () => Promise<void>;
}

export interface TabOptions {
  width?: number;
  height?: number;
  colorScheme?: 'light' | 'dark';
  /** Messages of the browser's console that the test provokes. */
  provokes?: RegExp;
}

/** Builds the console for both modes unless it is built, and starts a browser. Undefined if this machine has none. */
export async function startConsoleWorld(): Promise<ConsoleWorld | undefined> {
  const program = await findChromium();
  if (!program) return undefined;
  const builds = {
    production: buildConsole({ isUrgent: true }),
    development: buildConsole({ mode: 'development', isUrgent: true }),
  };
  for (const { done, files } of Object.values(builds)) {
    await done;
    const built = files();
    if (built.state === 'failed') throw new Error(`The console could not be built. ${built.message}`);
  }
  let served: ConsoleMode = 'production';
  const [stack, browser] = await Promise.all([
    startStack({ port: 0, simulator: true, consoleFiles: () => builds[served].files() }),
    launchChromium(program),
  ]);
  // Users are apart by the session storage of their tabs. One context keeps what was loaded.
  const context = await browser.newContext({ baseURL: stack.baseUrl, reducedMotion: 'reduce', timezoneId: 'UTC' });
  context.setDefaultTimeout(longestStepInMilliseconds);
  // All tabs share the process of the site as long as one of them is open: a test goes on with what earlier ones have compiled.
  await (await context.newPage()).goto('/console/icon.svg');
  return {
    stack,
    serve: (mode) => {
      served = mode;
    },
    openTab: async (options) => {
      const page = await openTab(context, options);
      if (served === 'development') await page.addInitScript(recordNothing);
      return page;
    },
    stop: async () => {
      await browser.close();
      await stack.stop();
    },
  };
}

/**
 * Switches off what React's checks record for the tools of developers, such as a stack for each element. Warnings stay. It takes half
 * of the time.
 */
const recordNothing = `
  Object.defineProperty(Error, 'stackTraceLimit', { get: () => 0, set: () => undefined });
  Object.assign(console, { createTask: undefined, timeStamp: undefined });
`;

/** Far more than a step takes on a busy machine. */
const longestStepInMilliseconds = 120_000;

async function openTab(
  context: BrowserContext,
  { width = 1280, height = 900, colorScheme = 'light', provokes }: TabOptions = {},
): Promise<Page> {
  const page = await context.newPage();
  await page.setViewportSize({ width, height });
  await page.emulateMedia({ colorScheme });
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('console', (message) => {
    const isFault = ['error', 'warning'].includes(message.type()) && !provokes?.test(message.text());
    if (isFault) faults.push(`${message.text()} (${message.location().url})`);
  });
  onTestFinished(async ({ task }) => {
    if (task.result?.state === 'fail') await keepPicture(page, task.name);
    await page.close();
    expect(faults, 'errors and warnings in the browser').toEqual([]);
  });
  return page;
}

const pictures = join(import.meta.dirname, '../../node_modules/.cache/browser-failures');

/** Keeps a picture of the page of a test that failed. */
async function keepPicture(page: Page, test: string): Promise<void> {
  const path = join(pictures, `${test.slice(0, 60).replaceAll(/\W+/g, '-')}-${++count}.png`);
  await page.screenshot({ path, fullPage: true });
  console.error(`The page is shown in ${path}`);
}

let count = 0;

/** User who signs in, by default in the domain d1. */
export interface Identity {
  user: string;
  roles: string[];
  domain?: string;
  /** Memberships of other domains. */
  more?: string;
}

/** Signs in at the page that the issuer of this machine shows. */
export async function signIn(page: Page, { user, roles, domain = 'd1', more = '' }: Identity) {
  await page.getByLabel('User name').waitFor();
  await page.waitForLoadState(); // the script of the page fills the form in first
  await page.getByLabel('User name').fill(user);
  await page.getByLabel('Domain', { exact: true }).fill(domain);
  for (const box of await page.getByRole('checkbox').all()) {
    await box.setChecked(roles.includes((await box.getAttribute('value')) ?? ''));
  }
  await page.getByLabel('Roles in other domains').fill(more);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/**
 * The rules for another look at a page that has been looked at with all rules: in a sample, those whose outcome may change with the colours
 * and the width of what is shown. All rules in full.
 */
export const rulesOfLook = amount({
  sample: ['color-contrast', 'link-in-text-block', 'scrollable-region-focusable'],
  full: undefined,
});

/**
 * Returns what axe finds on the page, the rule and the first elements that break it, and the icons that are too faint.
 * @param rules default: all
 */
export async function violationsOn(page: Page, rules?: readonly string[]): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe);
  await page.evaluate(isDrawn);
  const found = await page.evaluate(async (runOnly) => {
    const { axe } = globalThis as unknown as { axe: { run: (options: object) => Promise<{ violations: Violation[] }> } };
    // The pages have no sound or film, for which axe would read all style sheets first.
    const options = { resultTypes: ['violations'], selectors: false, preload: false, ...(runOnly && { runOnly }) };
    return (await axe.run(options)).violations.map(({ id, nodes }) => ({
      id,
      nodes: nodes.map(({ html }) => html),
    }));
  }, rules);
  return [...found.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).join(' | ')}`), ...(await faintIconsOn(page))];
}

/** Keeps the page from loading again by itself, as that of a hidden tab. */
export const withoutRefresh = `Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => 'hidden' })`;

/** Resolves when the page has drawn three frames without a change, such as one to another size or to dark colours. */
const isDrawn = `new Promise((resolve) => {
  let quiet = 0;
  const observer = new MutationObserver(() => { quiet = 0; });
  observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
  const frame = () => {
    quiet += 1;
    if (quiet <= 3) return requestAnimationFrame(frame);
    observer.disconnect();
    resolve();
  };
  requestAnimationFrame(frame);
})`;

interface Violation {
  id: string;
  nodes: { html: string }[];
}
