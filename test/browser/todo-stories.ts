import type { Client } from 'computation-management-client';
import { expect, it } from 'vitest';
import { digestsIn } from '../support/approval-digests.ts';
import { untilTestEnds } from '../support/patience.ts';
import { publicKey } from '../support/ready-computation.ts';
import { type ConsoleWorld, violationsOn } from './console-world.ts';
import { arrive } from './party.ts';
import { clientOf } from './seed.ts';

/** Stories about what waits for a user, and about how several things are worked through. */
export function tellTasks(world: () => ConsoleWorld): void {
  it('says what waits, from whom, what changed and since when, and leads through all approvals, each of which is shown before it is given', async () => {
    const olga = await clientOf(world(), 'olga', ['d1:administrator']);
    const tom = await clientOf(world(), 'tom', ['d1:dataset_provider']);
    for (const name of ['First to read', 'Second to read', 'Third to read']) await approvable(olga, tom, name);
    const named = await olga.createComputation({ body: { name: 'Names tom', providers: ['tom'] } });
    await expect.poll(async () => (await tom.getTodo()).totals, untilTestEnds).toMatchObject({ approvals: 3, invitations: 1 });

    const { page } = await arrive(world(), { user: 'tom', roles: ['dataset_provider'], path: 'todo' });
    const list = page.getByRole('table', { name: 'Waiting for you' });
    const row = (name: string) => list.getByRole('row').filter({ hasText: name });
    await page.getByText('approvals: 3, invitations: 1', { exact: true }).waitFor();
    await row('First to read')
      .getByText(/olga changed the description from .* to Other, just now/)
      .waitFor();
    await row('Names tom').getByText('Expected of you: upload your file to it, and your public key, just now').waitFor();
    expect(await row('Names tom').getByRole('link', { name: 'Names tom', exact: true }).getAttribute('href')).toContain(named.id);
    await row('Names tom').getByText('olga', { exact: true }).waitFor();
    for (const width of [1280, 360]) {
      await page.setViewportSize({ width, height: 900 });
      expect(await violationsOn(page)).toEqual([]);
    }
    await page.setViewportSize({ width: 1280, height: 900 });

    await page.getByRole('link', { name: 'Review one after the other' }).click();
    const approve = () => page.getByRole('button', { name: 'Approve', exact: true }).click();
    await page.getByRole('link', { name: 'Next (2 more)' }).waitFor();
    await page.getByText('Third to read').first().waitFor();
    await approve();
    await page.getByText('You have approved.').waitFor();
    await page.getByText('Second to read').first().waitFor();
    expect(page.url()).toContain('/approve?from=todo');
    await page.getByRole('link', { name: 'Next (1 more)' }).click();
    await page.getByText('First to read').first().waitFor();
    await approve();
    await page.getByRole('heading', { name: 'To do', level: 1 }).waitFor();
    await expect
      .poll(async () => (await tom.getTodo()).approvals.map(({ name }) => name), untilTestEnds)
      .toEqual(['Second to read']);
  });
}

/** Creates a computation that tom has approved, and that has changed since. */
async function approvable(olga: Client, tom: Client, name: string): Promise<void> {
  const { id } = await olga.createComputation({ body: { name, description: 'One' } });
  await olga.uploadKey({ id, body: { key: publicKey() } });
  const asset = { file_name: 'a.py', asset_type: 'algorithm', asset: btoa('print(1)') } as const;
  await olga.linkAsset({ id: (await olga.createAsset({ body: { asset } })).id, computationID: id });
  const data = { file_name: 'b.csv', asset_type: 'dataset', asset: btoa('1'), use: 'approval', user_key: publicKey() } as const;
  await tom.linkAsset({ id: (await tom.createAsset({ body: { asset: data } })).id, computationID: id });
  await tom.approve({ id, body: digestsIn((await tom.call('getManifest', { id })).response.headers) });
  await olga.updateComputation({ id, body: { name, description: 'Other' } });
}
