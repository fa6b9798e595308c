import type { Page } from 'playwright-core';
import { page as pageOf } from '../packages/client/index.ts';
import { buildConsole } from '../local/console/console-build.ts';
import { startStack } from '../local/stack.ts';
import { Deadline } from '../shared/deadline.ts';
import { indexedLists } from '../shared/lists/indexed-list.ts';
import { openTable } from '../shared/table/open-table.ts';
import { findChromium, launchChromium } from '../test/browser/chromium.ts';
import { goWithin } from '../test/browser/go-within.ts';
import { clientOf } from '../test/browser/seed.ts';
import { fill, rowOf } from './lists/fill.ts';
import { printTable } from './print-table.ts';

// Measures how soon the console shows a page of 100 among 100,000 computations: `npm run bench:console`. Fails above a second.

const computations = 100_000;
const rows = 100;
const lastPage = computations / rows;
const rounds = 7;
const mostMilliseconds = 1_000;

const program = await findChromium();
if (!program) throw new Error('There is no browser: install Chrome, or set CHROMIUM to the path of a Chromium.');
const build = buildConsole({ isUrgent: true });
await build.done;
const stack = await startStack({ port: 0, simulator: false, consoleFiles: build.files });
const browser = await launchChromium(program);
const client = await clientOf({ stack }, 'bench', ['d1:viewer']);
const firstNames = new Map<number, string>();
try {
  const list = indexedLists.computations('d1');
  await fill(
    openTable(() => new Deadline()),
    list,
    computations,
    (number, status) => ({
      ...rowOf(list, number, status),
      run: null,
      version: 1,
      inputs_version: 1,
      dataset_count: 0,
    }),
  );
  const page = await browser.newPage({ baseURL: stack.baseUrl, viewport: { width: 1280, height: 900 } });
  await page.goto(addressOf(1));
  await page.getByRole('button', { name: 'Sign in' }).click();
  await shown(page, 1);
  const steps: Record<string, () => Promise<number>> = {
    'first page, from the list of runs': () => timed(page, 1, () => leadTo(page, '/console/domains/d1/runs')),
    'next page': () => timed(page, 2, () => leadTo(page, addressOf(1))),
    'a page in the middle': () => timed(page, lastPage / 2, () => leadTo(page, addressOf(1))),
    'last page': () => timed(page, lastPage, () => leadTo(page, addressOf(1))),
    'first page, loaded anew': () => timedLoad(page),
  };
  const measured = new Map(Object.keys(steps).map((name) => [name, [] as number[]]));
  for (let round = 0; round <= rounds; round++) {
    for (const [name, step] of Object.entries(steps)) {
      const milliseconds = await step();
      if (round > 0) measured.get(name)?.push(milliseconds); // the first round loads parts of the console
    }
  }
  print(measured);
} finally {
  await browser.close();
  await stack.stop();
}

function addressOf(pageNumber: number): string {
  return `/console/domains/d1/computations?limit=${rows}${pageNumber === 1 ? '' : `&page=${pageNumber}`}`;
}

/** Goes somewhere else first, and then measures from the change of the address until the rows are painted. */
async function timed(page: Page, pageNumber: number, leave: () => Promise<void>): Promise<number> {
  await leave();
  await firstNameOf(pageNumber);
  const started = await page.evaluate<number>('performance.now()');
  await goWithin(page, addressOf(pageNumber));
  return (await shown(page, pageNumber)) - started;
}

/** From the start of the navigation, with the files of the console in the browser's cache. */
async function timedLoad(page: Page): Promise<number> {
  await page.goto(addressOf(1), { waitUntil: 'commit' });
  return await shown(page, 1);
}

async function leadTo(page: Page, path: string): Promise<void> {
  await goWithin(page, path);
  if (path.includes('/runs')) await page.getByText('Nobody has started a run yet.').waitFor();
  else await shown(page, 1);
}

/** Waits until the rows of the page are there. @returns the time of it, in milliseconds since the navigation */
async function shown(page: Page, pageNumber: number): Promise<number> {
  const first = await firstNameOf(pageNumber);
  const handle = await page.waitForFunction(
    (expected) => {
      const { document } = globalThis as unknown as { document: Queried };
      const links = document.querySelectorAll('main tbody a');
      return links.length === expected.rows && links[0]?.textContent === expected.first && performance.now();
    },
    { rows, first },
    { polling: 'raf' },
  );
  return Number(await handle.jsonValue());
}

/** What is used of the page's document. */
interface Queried {
  querySelectorAll: (selector: string) => ArrayLike<{ textContent: string }>;
}

/** The name in the first row of a page, asked for once. */
async function firstNameOf(pageNumber: number): Promise<string> {
  const known = firstNames.get(pageNumber);
  if (known !== undefined) return known;
  const { items } = await pageOf(client, 'listComputations', { limit: rows, offset: (pageNumber - 1) * rows });
  const name = items[0]?.name ?? '';
  firstNames.set(pageNumber, name);
  return name;
}

function print(measured: Map<string, number[]>): void {
  console.log(`\nA page of ${rows} among ${computations.toLocaleString('en')} computations, in Chromium on this machine\n`);
  printTable(
    [...measured].map(([what, times]) => {
      const sorted = times.toSorted((one, other) => one - other);
      const median = Math.round(sorted[Math.floor(sorted.length / 2)] ?? 0);
      if (median > mostMilliseconds) process.exitCode = 1;
      return { shown: what, 'median ms': median, 'longest ms': Math.round(sorted.at(-1) ?? 0) };
    }),
  );
}
