import { mkdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { buildConsole } from '../../local/pages/console-build.ts';
import { startStack } from '../../local/stack.ts';
import { findChromium, launchChromium } from '../../test/browser/chromium.ts';
import { clientOf, readyComputation } from '../../test/browser/seed.ts';

// Takes the pictures of the documents: `npm run docs:screenshots`. The terminal shows what docs/command-line.md has of a run.

const folder = fileURLToPath(new URL('../../docs/pictures/', import.meta.url));
mkdirSync(folder, { recursive: true });

const program = await findChromium();
if (!program) throw new Error('There is no browser: install Chrome, or set CHROMIUM to the path of a Chromium.');
const build = buildConsole({ isUrgent: true });
await build.done;
const stack = await startStack({ port: 0, simulator: true, consoleFiles: build.files });
const browser = await launchChromium(program);
try {
  const client = await clientOf({ stack }, 'alice', ['d1:administrator']);
  for (const name of ['Readmission rates', 'Body mass by species']) await readyComputation({ stack }, name);
  const { id } = await readyComputation({ stack }, 'Flipper length by island');
  const run = await client.startRun({ id, cvm: 'sim-1' });
  const page = await browser.newPage({ baseURL: stack.baseUrl, viewport: { width: 1100, height: 760 } });
  await page.goto(`/console/domains/d1/computations/${id}/runs/${run}`);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('The run completed').waitFor();
  await take(page, 'run');
  await page.goto('/console/domains/d1/computations');
  await page.getByRole('link', { name: 'Flipper length by island' }).waitFor();
  await page.getByRole('combobox', { name: 'Find computations' }).waitFor(); // the search is loaded last
  await page.getByText('Ready', { exact: true }).first().waitFor();
  await take(page, 'computations');
  await page.goto(`/console/domains/d1/computations/${id}`);
  await page.getByRole('table', { name: 'Inputs' }).getByText('penguin-sizes.py').waitFor();
  await take(page, 'computation');
  const guide = readFileSync(new URL('../../docs/command-line.md', import.meta.url), 'utf8');
  const [watched] = /^alice\$ cms run [^]*?(?=\n\n)/m.exec(guide) ?? [];
  if (watched === undefined) throw new Error('docs/command-line.md has no run: npm run docs:commands');
  const terminal = await browser.newPage({ viewport: { width: 1100, height: 760 } });
  await terminal.setContent(terminalPage(watched));
  await terminal.locator('pre').screenshot({ path: `${folder}watch.png` });
} finally {
  await browser.close();
  await stack.stop();
}

async function take(page: Page, name: string): Promise<void> {
  await page.evaluate('document.fonts.ready.then(() => undefined)');
  await page.screenshot({ path: `${folder}${name}.png` });
}

/**
 * Returns an HTML page that looks like a terminal. An end of a run has its colour, as in `cms`. @param text the content of the
 * terminal, whose first line is the typed command
 */
function terminalPage(text: string): string {
  const [typed = '', ...printed] = text.trimEnd().split('\n');
  const [, prompt = '', command = ''] = /^(\S+\$ )(.*)$/.exec(typed) ?? [];
  const lines = printed.map((line) => `<span class="${kindOf(line)}">${escaped(line)}</span>`);
  return `<!doctype html>
<meta charset="utf-8">
<style>
  body { margin: 0; }
  pre {
    display: inline-block;
    margin: 0;
    padding: 18px 22px;
    color: #d5dbe3;
    background: #10161f;
    font: 15px/1.5 'DejaVu Sans Mono', Menlo, Consolas, monospace;
  }
  b { color: #ffffff; }
  .prompt { color: #6fb1ff; }
  .completed { color: #6fdc8c; }
  .failed { color: #ff8389; }
  .next { color: #9aa7b5; }
</style>
<pre><span class="prompt">${escaped(prompt)}</span><b>${escaped(command)}</b>
${lines.join('\n')}</pre>`;
}

function kindOf(line: string): string {
  if (line.startsWith('✓')) return 'completed';
  if (line.startsWith('✗')) return 'failed';
  return line.startsWith('Next: ') ? 'next' : 'plain';
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
