import { expect, it } from 'vitest';
import { type ConsoleWorld, violationsOn } from './console-world.ts';
import { nameOfFocus } from './focus.ts';
import { arrive } from './party.ts';
import { clientOf } from './seed.ts';

export function tellOfTheSearch(world: () => ConsoleWorld): void {
  it('finds computations, assets and CVMs by keyboard, leads to the chosen one, and shows what nobody sees in a name', async () => {
    const domainID = 'searched';
    const client = await clientOf(world(), 'alice', [`${domainID}:administrator`]);
    const { id } = await client.createComputation({ domainID, body: { name: 'Harvest of the orchard' } });
    const asset = { file_name: 'orchard\u202Evsc.csv', asset_type: 'dataset', asset: '' } as const;
    const { checksum } = await client.createAsset({ domainID, body: { asset } });
    await client.registerCvm({ domainID, cvmID: 'orchard-cvm', body: { description: '' } });
    const matchCount = async () => (await client.find({ domainID, q: 'orchard' })).matches.length;
    await expect.poll(matchCount).toBe(3);

    const { page } = await arrive(world(), { user: 'alice', roles: ['administrator'], domain: domainID });
    const box = page.getByRole('combobox', { name: 'Find computations, assets and CVMs' });
    const options = page.getByRole('listbox').getByRole('option');
    await box.fill('orchard');
    await expect.poll(() => options.count()).toBe(3);
    const shown = await page.getByRole('listbox').innerText();
    for (const text of ['Computations', 'Assets', 'CVMs', 'orchard‹U+202E›vsc.csv']) expect(shown).toContain(text);
    expect(await violationsOn(page)).toEqual([]);
    await box.press('Enter');
    await expect.poll(() => nameOfFocus(page)).toBe('orchard-cvm'); // the best match: the name begins with the text
    await box.fill('harv');
    await options.filter({ hasText: 'Harvest' }).waitFor();
    await box.press('ArrowDown');
    await box.press('ArrowDown');
    await box.press('Enter');
    await expect.poll(() => nameOfFocus(page)).toBe('Harvest of the orchard');
    expect(page.url()).toMatch(new RegExp(`/computations/${id}$`));
    expect(await box.inputValue()).toBe('');
    await box.fill(checksum ?? '');
    await options.filter({ hasText: 'By its checksum' }).click();
    await expect.poll(() => nameOfFocus(page)).toContain('vsc.csv');
    await box.fill('nothing like it');
    await page.getByText('Nothing was found').first().waitFor();

    await page.setViewportSize({ width: 360, height: 800 });
    await page.getByRole('button', { name: 'Find' }).click();
    await box.fill('orchard');
    await expect.poll(() => options.count()).toBe(3);
    expect(await violationsOn(page)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
  });
}
