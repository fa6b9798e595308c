import { waitForRun } from 'computation-management-client';
import { expect, it } from 'vitest';
import type { ConsoleWorld } from './console-world.ts';
import { arrive } from './party.ts';
import { pressAction } from './press-action.ts';
import { publicKey } from '../support/ready-computation.ts';
import { clientOf, readyComputation } from './seed.ts';

/** Turns what comes after it around, hides in a word, and ends before a blank that nobody sees. */
const hostile = '\u202efdp.tne\u200bdived\u2066\u00ad';
const shown = '‹U+202E›fdp.tne‹U+200B›dived‹U+2066›‹U+00AD›';

/** An expression: the texts of the page with a character that nobody sees. Fields show what was typed. */
const unmarked = `(() => {
  const texts = document.createTreeWalker(document, NodeFilter.SHOW_TEXT);
  const found = [];
  for (let node = texts.nextNode(); node; node = texts.nextNode()) {
    if (/[\\u200b\\u2066\\u202e\\u00ad]/.test(node.data) && node.parentNode.localName !== 'textarea') found.push(node.data);
  }
  for (const element of document.querySelectorAll('[aria-label], [title]')) {
    const label = element.getAttribute('aria-label') + element.getAttribute('title');
    if (/[\\u200b\\u2066\\u202e\\u00ad]/.test(label)) found.push(label);
  }
  return found;
})()`;

/** An expression: names of others in a place where a word of the page could stand, without a box. */
const unboxed = `[...document.querySelectorAll('main *')].filter((element) => {
  const own = [...element.childNodes].filter(({ nodeType }) => nodeType === Node.TEXT_NODE).map(({ data }) => data).join('');
  return own.includes('U+202E') && !element.closest('.name, .description, a, h1, pre, button, [hidden], [id^=upload-button-label]');
}).map(({ outerHTML }) => outerHTML.slice(0, 200))`;

/** An expression: how the element with a text keeps its direction apart. */
const directionOf = (element: string, text: string) =>
  `getComputedStyle([...document.querySelectorAll('${element}')].find(({ innerText }) => innerText.includes('${text}'))).unicodeBidi`;

export function tellTexts(world: () => ConsoleWorld): void {
  it('marks what nobody sees in texts of others, in lists, dialogs, titles and labels, and leaves it in fields', async () => {
    const alice = await clientOf(world(), 'alice', ['d1:administrator']);
    const { id, asset } = await readyComputation(world(), 'Plain');
    const name = `Study ${hostile}`;
    await alice.updateComputation({ id, body: { name, description: hostile, providers: [`bob ${hostile}`] } });
    const { file_name: _, ...given } = await alice.getAsset({ id: asset });
    await alice.updateAsset({ id: asset, body: { asset: { ...given, file_name: `${hostile}.py` } } });
    const { id: dataset } = await alice.createAsset({
      body: { asset: { file_name: `${hostile}.csv`, asset_type: 'dataset', asset: '' } },
    });
    await alice.linkAsset({ id: dataset, computationID: id });
    const copy = await alice.createAsset({ body: { asset: { file_name: 'plain.csv', asset_type: 'dataset', asset: '' } } });
    await alice.linkAsset({ id: copy.id, computationID: id });
    const mallory = `mallory ${hostile}`;
    const other = await clientOf(world(), mallory, ['d1:administrator']);
    const foreign = await other.createAsset({
      body: { asset: { file_name: 'foreign.csv', asset_type: 'dataset', asset: btoa('x') } },
    });
    await other.uploadKey({ id, body: { key: publicKey() } });
    await other.linkAsset({ id: foreign.id, computationID: id });
    const run = await other.startRun({ id, cvm: 'sim-marked' });
    await waitForRun(alice, { id, run });
    await alice.registerCvm({ cvmID: 'cvm-marked', body: { description: hostile } });
    const { page, open } = await arrive(world(), { user: 'alice', roles: ['administrator'] });
    const found: string[] = [];
    for (const path of [
      'computations',
      'assets',
      'cvms',
      'runs',
      `assets/${dataset}`,
      `assets/${foreign.id}`,
      `computations/${id}`,
      `computations/${id}?tab=manifest`,
      `computations/${id}?tab=runs`,
      `computations/${id}?tab=events`,
      `computations/${id}?tab=configuration`,
      `computations/${id}/runs/${run}`,
      `computations/${id}/approve`,
    ]) {
      await open(path);
      await page.getByText(shown, { exact: false }).first().waitFor();
      found.push(...(await page.evaluate<string[]>(unmarked)), ...(await page.evaluate<string[]>(unboxed)));
    }
    expect(found).toEqual([]);
    await open(`computations/${id}`);
    for (const button of ['Start run', 'Delete']) {
      await pressAction(page, button);
      const dialog = page.getByRole('dialog');
      await dialog.getByText(`Study ${shown}`).first().waitFor();
      expect([button, await page.evaluate(unmarked)]).toEqual([button, []]);
      await dialog.getByRole('button', { name: 'Cancel' }).click();
      await dialog.waitFor({ state: 'hidden' });
    }
    await page.getByText(`"${shown}.csv" and "plain.csv" have the same content`).waitFor();
    expect(await page.title()).toBe(`Study ${shown} - Computations`);
    await open(`computations/${id}/edit`);
    expect(await page.getByRole('textbox', { name: 'Name', exact: true }).inputValue()).toBe(name);
    expect(await page.getByRole('textbox', { name: 'Providers (optional)' }).inputValue()).toBe(`bob ${hostile}`);
  });

  it('keeps the order of what is around a name that is written from right to left', async () => {
    const name = '\u05d0\u05d1\u05d2 1';
    const { id } = await readyComputation(world(), name);
    const { page, open } = await arrive(world(), { user: 'alice', roles: ['administrator'], path: `computations/${id}` });
    await page.getByRole('button', { name: 'Start run', exact: true }).first().click();
    await page.getByRole('dialog').getByText(name).waitFor();
    expect(await page.evaluate(directionOf('[role=dialog] bdi', name))).toBe('isolate');
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await open('computations');
    await page.getByRole('link', { name }).waitFor();
    expect(await page.evaluate(directionOf(':is(td, th) a', name))).toBe('isolate');
  });

  it.each(['manifest-digest', 'configuration-digest'])('approves nothing if the service names another %s', async (header) => {
    const { id } = await readyComputation(world(), `Lies about ${header}`);
    const { page, open } = await arrive(world(), { user: 'alice', roles: ['administrator'] });
    await page.route(/\/manifest$/, async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, headers: { ...response.headers(), [header]: '0'.repeat(64) } });
    });
    const sent: string[] = [];
    page.on('request', (request) => void sent.push(`${request.method()} ${new URL(request.url()).pathname}`));
    await open(`computations/${id}/approve`);
    await page.getByText('The service names other digests than those').waitFor();
    expect(await page.getByRole('form', { name: 'Approve' }).count()).toBe(0);
    expect(sent.filter((request) => request.startsWith('POST') && request.endsWith('/approvals'))).toEqual([]);
  });

  it('shows whose keys an approval covers, with their fingerprints, and removes a key with its approval', async () => {
    const { id } = await readyComputation(world(), 'Keys and owners');
    const client = await clientOf(world(), 'alice', ['d1:administrator']);
    const { events } = await client.listEvents({ id, event_type: 'key_uploaded', limit: 1 });
    const { fingerprint } = JSON.parse(atob(events[0]?.details ?? '')) as { fingerprint: string };
    const { page } = await arrive(world(), { user: 'alice', roles: ['administrator'], path: `computations/${id}/approve` });
    await page.getByRole('button', { name: /^For experts/ }).click();
    for (const table of ['Files of the manifest', 'Who gets the results from the CVM']) {
      await page.getByRole('table', { name: table }).getByText(fingerprint).waitFor();
      await page.getByRole('table', { name: table }).getByText('alice', { exact: true }).waitFor();
    }
    await page.getByRole('button', { name: 'Approve', exact: true }).click();
    await page.getByText('You have approved.').waitFor();
    await page.getByRole('button', { name: 'Remove key' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click();
    await page.getByText('Your public key is missing').waitFor();
    expect((await client.listApprovals({ id })).approvals).toEqual([]);
  });
}
