import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { onTestFailed } from 'vitest';
import { buildConsole } from '../../infra/local/console/console-build.ts';
import { startStack, type Stack } from '../../infra/local/stack.ts';
import { findChromium, launchChromium } from './chromium.ts';

/** The service with its console, and a browser. */
export interface ConsoleWorld {
  stack: Stack;
  browser: Browser;
  /** Opens a tab in which nobody is signed in. */
  openTab: (options?: TabOptions) => Promise<Tab>;
  stop: () => Promise<void>;
}

export interface TabOptions {
  width?: number;
  height?: number;
  colorScheme?: 'light' | 'dark';
}

/** A tab with what went wrong in it. */
export interface Tab {
  page: Page;
  context: BrowserContext;
  /** Messages of the browser that no page should cause: exceptions, failed loads, refusals of the content policy. */
  faults: string[];
}

/** Builds the console unless it is built, and starts a browser. Undefined if this machine has none. */
export async function startConsoleWorld(): Promise<ConsoleWorld | undefined> {
  const program = await findChromium();
  if (!program) return undefined;
  const build = buildConsole();
  await build.done;
  const files = build.files();
  if (files.state !== 'ready')
    throw new Error(`The console could not be built. ${files.state === 'failed' ? files.message : ''}`);
  const [stack, browser] = await Promise.all([
    startStack({ port: 0, simulator: true, consoleFiles: build.files }),
    launchChromium(program),
  ]);
  return {
    stack,
    browser,
    openTab: (options) => openTab(browser, stack.baseUrl, options),
    stop: async () => {
      await browser.close();
      await stack.stop();
    },
  };
}

/** Far more than a step takes on a busy machine. */
const longestStepInMilliseconds = 30_000;

async function openTab(
  browser: Browser,
  baseURL: string,
  { width = 1280, height = 900, colorScheme = 'light' }: TabOptions = {},
): Promise<Tab> {
  const context = await browser.newContext({ baseURL, viewport: { width, height }, colorScheme, reducedMotion: 'reduce' });
  context.setDefaultTimeout(longestStepInMilliseconds);
  const page = await context.newPage();
  showIfTestFails(page);
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(message.text());
  });
  return { page, context, faults };
}

const pictures = join(import.meta.dirname, '../../node_modules/.cache/browser-failures');

/** Keeps a picture of the page if the test that opened it fails. */
function showIfTestFails(page: Page): void {
  onTestFailed(async ({ task }) => {
    const path = join(pictures, `${task.name.slice(0, 60).replaceAll(/\W+/g, '-')}-${++count}.png`);
    await page.screenshot({ path, fullPage: true });
    console.error(`The page is shown in ${path}`);
  });
}

let count = 0;

/** Who signs in, by default in the domain d1. */
export interface Identity {
  user: string;
  roles: string[];
  domain?: string;
  /** Memberships of other domains. */
  more?: string;
}

/** Signs in at the page that the issuer of this machine shows. */
export async function signIn(page: Page, { user, roles, domain = 'd1', more = '' }: Identity) {
  await page.getByLabel('User name').fill(user);
  await page.getByLabel('Domain', { exact: true }).fill(domain);
  for (const box of await page.getByRole('checkbox').all()) {
    await box.setChecked(roles.includes((await box.getAttribute('value')) ?? ''));
  }
  await page.getByLabel('Roles in other domains').fill(more);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Returns what axe finds on the page: the rule, and the first elements that break it. */
export async function violationsOn(page: Page): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe);
  const found = await page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: { run: () => Promise<{ violations: Violation[] }> } };
    return (await axe.run()).violations.map(({ id, nodes }) => ({ id, nodes: nodes.map(({ html }) => html) }));
  });
  return found.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).join(' | ')}`);
}

interface Violation {
  id: string;
  nodes: { html: string }[];
}
