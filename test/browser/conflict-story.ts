import { expect, it } from 'vitest';
import { amount } from '../support/amounts.ts';
import { type ConsoleWorld, violationsOn } from './console-world.ts';
import { arrive } from './party.ts';
import { pressAction } from './press-action.ts';
import { clientOf, readyComputation } from './seed.ts';

const isFull = amount({ sample: false, full: true });

interface Change {
  /** The button that opens the dialog. */
  opener: string;
  /** The button that sends the change. */
  confirm: string;
  /** Text that tells of the change that was made. */
  done: string;
  path: string;
  /** Gives what is changed another description. */
  byOthers: (description: string) => Promise<unknown>;
  /** The page behind the dialog loads again by itself. Then it shows the other description, which the user may not have seen. */
  reloads?: true;
}

export function tellOfConflicts(world: () => ConsoleWorld): void {
  it('offers to read again what someone else changed while a dialog was open, and then makes the change', async () => {
    const { page, open } = await arrive(world(), { user: 'alice', roles: ['administrator'], provokes: /status of 412/ });
    for (const { opener, confirm, done, path, byOthers, reloads } of await changes(world())) {
      await open(path);
      await pressAction(page, opener);
      const dialog = page.getByRole('dialog');
      await dialog.waitFor();
      await byOthers(`Before ${opener}`);
      if (reloads) await page.getByText(`Before ${opener}`).first().waitFor();
      await dialog.getByRole('button', { name: confirm, exact: true }).click();
      await dialog.getByText(/^Nothing was/).waitFor();
      if (isFull) expect(await violationsOn(page)).toEqual([]);
      await dialog.getByRole('button', { name: 'Read it again' }).click();
      await dialog.waitFor({ state: 'hidden' });
      await page.getByText(`Before ${opener}`).waitFor();
      await pressAction(page, opener);
      await dialog.getByRole('button', { name: confirm, exact: true }).click();
      await page.getByText(done).waitFor();
    }
  });

  it('approves no manifest that has changed while its page was open, before the user has checked the new one', async () => {
    const bob = await clientOf(world(), 'bob', ['d1:administrator']);
    const { id } = await readyComputation(world(), 'To be approved');
    const { page } = await arrive(world(), {
      user: 'alice',
      roles: ['administrator'],
      provokes: /status of (409|412)/,
      path: `computations/${id}/approve`,
    });
    const approve = page.getByRole('button', { name: 'Approve', exact: true });
    for (const description of ['Changed once', 'Changed twice']) {
      await approve.waitFor();
      await bob.updateComputation({ id, body: { name: 'To be approved', description } });
      await approve.click();
      await page.getByText(description, { exact: true }).first().waitFor();
      await page.getByText('Nothing was approved.').waitFor();
      expect(await approve.isDisabled()).toBe(true);
      const check = page.getByRole('checkbox', { name: 'I have checked what this page shows now' });
      expect(await check.isChecked()).toBe(false);
      if (isFull) expect(await violationsOn(page)).toEqual([]);
      await check.check();
    }
    expect((await bob.listApprovals({ id })).approvals).toEqual([]);
    await approve.click();
    await page.getByText('You have approved.').waitFor();
  });
}

async function changes(world: ConsoleWorld): Promise<Change[]> {
  const bob = await clientOf(world, 'bob', ['d1:administrator']);
  const { id, asset } = await readyComputation(world, 'Changed by two');
  const { file_name, asset_type } = await bob.getAsset({ id: asset });
  const changedAsset = (description: string) =>
    bob.updateAsset({ id: asset, body: { asset: { file_name, asset_type, description } } });
  const ofAsset = { path: `assets/${asset}`, byOthers: changedAsset };
  const changedCvm = (description: string) => bob.registerCvm({ cvmID: 'cvm-of-two', body: { description } });
  await changedCvm('At first');
  const ofCvm = { path: 'cvms/cvm-of-two', byOthers: changedCvm, reloads: true } as const;
  const changedComputation = (description: string) =>
    bob.updateComputation({ id, body: { name: 'Changed by two', description } });
  const edits = [{ ...ofAsset, opener: 'Edit', confirm: 'Save changes', done: 'The changes are saved.' }];
  if (!isFull) return edits;
  return [
    ...edits,
    { ...ofAsset, opener: 'Delete', confirm: 'Delete', done: 'penguin-sizes.py is deleted.' },
    { ...ofCvm, opener: 'Edit', confirm: 'Save changes', done: 'cvm-of-two is registered.' },
    { ...ofCvm, opener: 'Remove', confirm: 'Remove', done: 'cvm-of-two is removed.' },
    {
      path: `computations/${id}`,
      byOthers: changedComputation,
      reloads: true,
      opener: 'Delete',
      confirm: 'Delete',
      done: 'Changed by two is deleted.',
    },
  ];
}
