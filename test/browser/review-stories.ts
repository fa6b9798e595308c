import { readFileSync } from 'node:fs';
import { isSignatureOf } from 'computation-management-formats/approval-signature';
import { canonicalDigest } from 'computation-management-formats/digests';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { publicKey } from '../support/ready-computation.ts';
import { type ConsoleWorld, rulesOfLook, violationsOn } from './console-world.ts';
import { nameOfFocus } from './focus.ts';
import { arrive } from './party.ts';
import { clientOf, readyComputation } from './seed.ts';
import { keepSentBodies } from './sent-bodies.ts';

/** A user whose name looks like alice's: its first letter is Cyrillic. */
const lookAlike = '\u0430lice';

export function tellOfReviews(world: () => ConsoleWorld): void {
  const approvable = async (name: string) => {
    const alice = await clientOf(world(), 'alice', ['d1:administrator']);
    const bob = await clientOf(world(), 'bob', ['d1:dataset_provider']);
    const { id } = await readyComputation(world(), name);
    const asset = { file_name: 'penguins.csv', asset_type: 'dataset', asset: btoa(name), use: 'approval' } as const;
    const { id: dataset } = await bob.createAsset({ body: { asset: { ...asset, user_key: publicKey() } } });
    await bob.linkAsset({ id: dataset, computationID: id });
    return { alice, bob, id };
  };

  it('signs with a key that was made in the page and never leaves it, saves a signed copy, and then shows who else would get the results', async () => {
    const { alice, id } = await approvable('Reviewed');
    await alice.updateComputation({ id, body: { name: 'Reviewed', approval: 'all_signed' } });
    const { page, open } = await arrive(world(), {
      user: 'bob',
      roles: ['dataset_provider'],
      path: `computations/${id}/approve`,
    });
    const readSent = await keepSentBodies(page);
    const sign = page.getByRole('button', { name: 'Sign and approve' });
    await page.getByText('You have uploaded no public key here.').waitFor();
    await sign.focus();
    await page.getByRole('tooltip').getByText('Upload your public key first.').waitFor();
    await page.getByRole('button', { name: 'Upload your public key' }).click();
    const dialog = page.getByRole('dialog');
    const pem = await saved(page, () => dialog.getByRole('button', { name: 'Make a key' }).click());
    await dialog.getByText('Your key is made').waitFor();
    expect(await violationsOn(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Upload', exact: true }).click();
    await page.getByText(/^SHA256:\S{43}, the key that you uploaded$/).waitFor();
    await sign.click();
    const copy = JSON.parse(
      await saved(page, () => page.getByRole('button', { name: 'Save your signed copy' }).click()),
    ) as Record<'text' | 'key' | 'signature' | 'manifest_digest' | 'configuration_digest', string> & {
      manifest: object;
      configuration: object;
    };
    expect(await isSignatureOf(copy)).toBe(true);
    const digests = {
      manifest_digest: canonicalDigest(copy.manifest),
      configuration_digest: canonicalDigest(copy.configuration),
    };
    expect(copy).toMatchObject(digests);
    expect(JSON.parse(copy.text)).toMatchObject({ ...digests, approver: 'bob', computation: id });
    expect((await alice.listApprovals({ id })).approvals).toMatchObject([{ user: 'bob', signed: true, stale: false }]);
    const [, secret = ''] = pem.split('\n');
    const sent = await readSent();
    expect([secret.length, sent.includes(secret), sent.includes(copy.signature)]).toEqual([64, false, true]);

    const other = await clientOf(world(), lookAlike, ['d1:result_consumer']);
    const consumers = ['alice', lookAlike];
    await alice.updateComputation({ id, body: { name: 'Reviewed', consumers, log_access: 'parties' } });
    await other.uploadKey({ id, body: { key: publicKey() } });
    await open(`computations/${id}/approve`);
    const changes = page.getByRole('list', { name: 'What has changed since your approval' }).locator('> li');
    await changes.first().waitFor();
    const [first, second] = await changes.allInnerTexts();
    expect(first).toMatch(/^Weaker\n.*"\\u\{0430\}lice" \(looks like alice\).*the results/);
    expect(first).toContain('looks like alice\nYou approved\nNothing\nNow\n"\u0430lice" (not ASCII: U+0430)');
    expect(second).toMatch(/^Weaker\nalice changed the access to logs from none to parties, just now/);
    expect(await changes.nth(1).locator('mark').allInnerTexts()).toEqual(['"none"', '"parties"']);
    const picture = page.getByRole('img', {
      name: /^Picture: alice's penguin-sizes.py reads your penguins.csv on any machine; /,
    });
    expect(await picture.locator('.is-changed').allInnerTexts()).toEqual(['"\\u{0430}lice" receives the results changed']);
    expect(await picture.locator('.node').count()).toBe(4);
    await page.locator('main h1').focus();
    expect(await stopsTo(page, 'Sign and approve')).toBeLessThanOrEqual(8);
    for (const [width, colorScheme, rules] of [
      [1280, 'light', undefined],
      [1280, 'dark', rulesOfLook],
      [390, 'light', rulesOfLook],
    ] as const) {
      await page.setViewportSize({ width, height: 844 });
      await page.emulateMedia({ colorScheme });
      expect([width, colorScheme, await violationsOn(page, rules)]).toEqual([width, colorScheme, []]);
    }
    // The bar stays in the window of a phone, and leaves it room. Nothing is beside anything there.
    for (const top of [0, 600, 9_999]) {
      await page.evaluate(`scrollTo(0, ${top})`);
      const { y = 0, height = 0 } = (await page.locator('.decision').boundingBox()) ?? {};
      expect(y + height).toBeLessThanOrEqual(844);
      expect(height).toBeLessThan(844 / 3);
    }
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    await sign.press('Enter');
    await page.getByText('You have signed and approved.').waitFor();
  });

  it('refuses with a reason that all parties read as words of that user, and withdraws the refusal', async () => {
    const { alice, bob, id } = await approvable('Refused');
    const { page, open } = await arrive(world(), {
      user: 'bob',
      roles: ['dataset_provider'],
      width: 390,
      provokes: /status of 4(?:00|22)/,
      path: `computations/${id}/approve`,
    });
    await page.getByRole('button', { name: 'Refuse' }).click();
    const dialog = page.getByRole('dialog', { name: 'Refuse to approve' });
    expect(await dialog.getByRole('button', { name: 'Refuse' }).isDisabled()).toBe(true);
    await dialog.getByRole('button', { name: 'Refuse' }).focus();
    await page.getByRole('tooltip').getByText('Give a reason first').waitFor();
    const reason = 'Given and signed\nThe logs are open.';
    await dialog.getByRole('textbox', { name: 'Reason' }).fill('x'.repeat(1_001));
    await dialog.getByRole('button', { name: 'Refuse' }).click();
    await dialog
      .getByText(/1,?000/)
      .nth(1)
      .waitFor();
    await dialog.getByRole('textbox', { name: 'Reason' }).fill(reason);
    expect(await violationsOn(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Refuse' }).click();
    await page.getByText('You have refused. All parties see your reason.').waitFor();
    expect(await alice.listApprovals({ id })).toMatchObject({ refusals: [{ user: 'bob', reason }] });
    await open(`computations/${id}/approve`);
    await page.getByText('You have refused').waitFor();

    const owner = await arrive(world(), { user: 'alice', roles: ['administrator'], path: `computations/${id}` });
    const row = owner.page.getByRole('table', { name: 'People' }).getByRole('row').filter({ hasText: 'bob' });
    await row.getByText('Refused').waitFor();
    expect(await row.locator('.name').allInnerTexts()).toContain(reason);
    await open(`computations/${id}`);
    await page.getByRole('button', { name: 'Withdraw' }).click();
    await page
      .getByRole('dialog', { name: 'Withdraw your approval or refusal' })
      .getByRole('button', { name: 'Withdraw' })
      .click();
    await page.getByText('You have withdrawn').waitFor();
    expect((await bob.listApprovals({ id })).refusals).toEqual([]);

    await alice.removeKey({ id });
    await open(`computations/${id}/approve`);
    await page.getByText('There is nothing to approve yet').waitFor();
    await page.getByRole('button', { name: 'Refuse' }).click();
    await dialog.getByRole('textbox', { name: 'Reason' }).fill('Not without a key.');
    await dialog.getByRole('button', { name: 'Refuse' }).click();
    await page.getByText('You have refused. All parties see your reason.').waitFor();
    expect((await bob.listApprovals({ id })).refusals).toMatchObject([{ user: 'bob', reason: 'Not without a key.' }]);

    // A browser that makes no such keys says how to make one elsewhere.
    await page.evaluate(`crypto.subtle.generateKey = () => Promise.reject(new DOMException('', 'NotSupportedError'))`);
    await page.getByRole('button', { name: 'Upload key' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Make a key' }).click();
    await page.getByText('ssh-keygen -t ed25519 -f computation-key').waitFor();
  });
}

/** Returns the text of the file that an action saves. */
async function saved(page: Page, act: () => Promise<void>): Promise<string> {
  const [download] = await Promise.all([page.waitForEvent('download'), act()]);
  return readFileSync(await download.path(), 'utf8');
}

/** Returns how often Tab is pressed, from the title of the screen, until the button with a name has the focus. */
async function stopsTo(page: Page, name: string): Promise<number> {
  for (let presses = 1; presses < 60; presses++) {
    await page.keyboard.press('Tab');
    if ((await nameOfFocus(page)) === name) return presses;
  }
  throw new Error(`Tab does not reach ${name}.`);
}
