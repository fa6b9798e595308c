import { untilTestEnds } from '../support/patience.ts';
import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { publicKey } from '../support/ready-computation.ts';
import { type ConsoleWorld, violationsOn } from './console-world.ts';
import { arrive } from './party.ts';
import { pressAction } from './press-action.ts';
import { clientOf, readyComputation } from './seed.ts';

/** Stories about what leaves the console as a file, and about what is given once for several computations. */
export function tellOfCopies(world: () => ConsoleWorld): void {
  it('saves all rows of a list and the journal as CSV and JSON, without formulas and with decoded details', async () => {
    const domainID = 'saved';
    const client = await clientOf(world(), 'alice', [`${domainID}:administrator`]);
    for (let each = 1; each <= 30; each++) await client.createComputation({ domainID, body: { name: `=SUM(${each})` } });
    const { page, open } = await arrive(world(), { user: 'alice', roles: ['viewer'], domain: domainID });
    const save = async (list: string, form: string) => {
      await page.getByRole('button', { name: `Save as a file: ${list}` }).click();
      const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('menuitem', { name: form }).click()]);
      return { name: file.suggestedFilename(), text: await readFile(await file.path(), 'utf8') };
    };
    const csv = await save('computations', 'CSV');
    expect(csv.name).toBe('computations.csv');
    expect(csv.text.match(/,'=SUM/g)).toHaveLength(30);
    expect(csv.text).not.toMatch(/(?:^|[",\n])=/);
    const json = JSON.parse((await save('computations', 'JSON')).text) as { items: { id: string; name: string }[] };
    expect([json.items.length, json.items[0]?.name]).toEqual([30, '=SUM(30)']);
    await client.updateComputation({ domainID, id: json.items[0]?.id ?? '', body: { name: 'Renamed' } });
    await open(`computations/${json.items[0]?.id}?tab=events`);
    expect((await save('events', 'CSV')).text).toContain('fields: name');
    expect(await violationsOn(page)).toEqual([]);
  });

  it('duplicates a computation with its inputs, and gives one key to all computations that wait for it', async () => {
    const { id } = await readyComputation(world(), 'Worth repeating');
    const { page, open } = await arrive(world(), { user: 'dora', roles: ['creator'] });
    for (const name of ['Copy of Worth repeating', 'Second copy']) {
      await open(`computations/${id}`);
      await page.getByRole('heading', { name: 'Worth repeating', level: 1 }).waitFor();
      await pressAction(page, 'Duplicate');
      const field = page.getByRole('textbox', { name: 'Name', exact: true });
      await expect.poll(() => field.inputValue()).toBe('Copy of Worth repeating');
      await field.fill(name);
      await page.getByRole('button', { name: 'Create computation' }).click();
      await page.getByRole('heading', { name, level: 1 }).waitFor();
      await page.getByRole('table', { name: 'Inputs' }).getByRole('link', { name: 'penguin-sizes.py' }).waitFor();
    }
    const client = await clientOf(world(), 'dora', ['d1:creator']);
    const waiting = async () => (await client.getTodo()).keys.length;
    await expect.poll(waiting, untilTestEnds).toBe(2);
    await open('todo');
    await page.getByRole('button', { name: 'Upload key to Second copy' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Copy of Worth repeating').waitFor();
    await dialog.getByRole('checkbox', { name: 'Also give it to all other computations that wait for your key (1)' }).check();
    await dialog.getByRole('textbox', { name: 'Public key' }).fill(publicKey());
    expect(await violationsOn(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Upload', exact: true }).click();
    await page.getByText('Your public key is uploaded to 2 computations.').waitFor();
    await expect.poll(waiting, untilTestEnds).toBe(0);
  });
}
