import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { oneOf } from '../support/amounts.ts';
import { publicKey } from '../support/ready-computation.ts';
import type { ConsoleWorld } from './console-world.ts';
import { clicksOf, type CountedParty, enterCounted } from './counted-party.ts';

const demoFile = (name: string) => new URL(`../../tools/demo/data/${name}`, import.meta.url).pathname;

/** Creates a computation. @param people the users to name, each by the field */
async function create(owner: CountedParty, name: string, people: Record<string, string> = {}): Promise<void> {
  await owner.follow('Create computation');
  for (const [field, text] of Object.entries({ Name: name, ...people })) {
    await owner.type(owner.main.getByRole('textbox', { name: field, exact: true }), text);
  }
  await owner.press('Create computation');
  await owner.page.getByRole('heading', { name, level: 1 }).waitFor();
}

async function upload(party: CountedParty, file: string): Promise<void> {
  await party.follow('Upload asset');
  await party.choose(demoFile(file));
  await party.press('Upload');
  await party.page.getByRole('table', { name: 'Inputs' }).getByRole('link', { name: file }).waitFor();
}

/** Lets bob bring a dataset to the computation, and approve with a key that he makes on the way. */
async function approveOwn(bob: CountedParty, name: string): Promise<void> {
  await bob.follow(name);
  await upload(bob, 'penguins.csv');
  await bob.addKey();
  await bob.follow('Review and approve');
  await bob.press('Sign and approve');
  await bob.page.getByText('You have signed and approved.').waitFor();
}

/** Starts a run once everything is there. */
async function run({ page, press, type }: CountedParty): Promise<void> {
  await page.getByRole('heading', { name: 'Ready to run' }).waitFor();
  await press('Start run');
  await type(page.getByRole('dialog').getByRole('combobox'), 'sim-1');
  await press('Start run', page.getByRole('dialog'));
  await page.getByText('The run completed').waitFor();
}

/** Verifies a run, which bob has approved with a signature. */
async function verify({ page, follow }: CountedParty): Promise<void> {
  await follow('Verify this run');
  const verdict = page.getByText(/^Everything that was checked holds/);
  await verdict.first().waitFor();
  const signed = page.getByRole('list', { name: 'Holds', exact: true }).getByText(/"bob".*sign/);
  await signed.first().waitFor();
}

/** Stories of whole computations by as few clicks as they take. A sample tells one of them. */
export function tellOfClicks(world: () => ConsoleWorld): void {
  const ofThreeParties = async () => {
    const name = 'Body mass by species';
    const alice = await enterCounted(world(), 'alice', 'creator', 'result_consumer');
    await create(alice, name);
    await alice.addKey(publicKey());
    const carol = await enterCounted(world(), 'carol', 'algo_provider');
    await carol.follow(name);
    await carol.follow('Upload an algorithm');
    await carol.choose(demoFile('penguin-sizes.py'));
    await carol.press('Upload');
    await carol.addKey(publicKey());
    const bob = await enterCounted(world(), 'bob', 'dataset_provider');
    await approveOwn(bob, name);
    await run(alice);
    await verify(alice);
    expect(await clicksOf(alice, bob, carol)).toBeLessThanOrEqual(26);
  };

  const ofTwoParties = async () => {
    const name = 'Of two parties';
    const alice = await enterCounted(world(), 'alice', 'creator', 'algo_provider', 'result_consumer');
    await create(alice, name);
    await alice.addKey();
    await upload(alice, 'penguin-sizes.py');
    const bob = await enterCounted(world(), 'bob', 'dataset_provider');
    await approveOwn(bob, name);
    await run(alice);
    await verify(alice);
    expect(await clicksOf(alice, bob)).toBeLessThanOrEqual(24);
  };

  const withAReviewer = async () => {
    const name = 'Of two parties and a reviewer';
    const alice = await enterCounted(world(), 'alice', 'creator', 'algo_provider', 'result_consumer');
    await create(alice, name, { 'Result consumers (optional)': 'bob', 'Reviewers of results (optional)': 'rita' });
    await upload(alice, 'penguin-sizes.py');
    await alice.addKey();
    const rita = await enterCounted(world(), 'rita', 'viewer');
    await rita.follow(name);
    await rita.addKey();
    const bob = await enterCounted(world(), 'bob', 'dataset_provider', 'result_consumer');
    await approveOwn(bob, name);
    await run(alice);
    await rita.follow('Review the result');
    const buffer = Buffer.from('species,count\nAdelie,152\n');
    await rita.choose({ name: 'counts.csv', mimeType: 'text/csv', buffer });
    await rita.press('Hand in');
    await rita.press('Sign and release');
    await rita.page.getByText('You have released the result.').waitFor();
    await bob.follow(/^Completed/);
    const [download] = await Promise.all([bob.page.waitForEvent('download'), bob.press('Download the result')]);
    expect(readFileSync(await download.path())).toEqual(buffer);
    expect(await clicksOf(alice, bob, rita)).toBeLessThanOrEqual(34);
  };

  const stories: [Story, ...Story[]] = [
    [
      'two parties and the owner of an algorithm from nothing to a signed approval, a run and its proof in at most 26 clicks',
      ofThreeParties,
    ],
    [
      'two parties from nothing to a signed approval, a run and its proof, with keys made on the way, in at most 24 clicks',
      ofTwoParties,
    ],
    ['two parties and a reviewer from nothing to a released result in at most 34 clicks', withAReviewer],
  ];
  it.each(oneOf(stories))('takes %s', async (_, story) => story());
}

type Story = [title: string, story: () => Promise<void>];
