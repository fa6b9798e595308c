import { randomUUID } from 'node:crypto';
import { waitForRun } from 'computation-management-client';
import { expect, it } from 'vitest';
import { creatorsInRun } from '../../packages/console/loading/overview.ts';
import { amount } from '../support/amounts.ts';
import { type ConsoleWorld, violationsOn, withoutRefresh } from './console-world.ts';
import { nameOfFocus } from './focus.ts';
import { arrive } from './party.ts';
import { longestWaitInMilliseconds } from '../support/patience.ts';
import { publicKey } from '../support/ready-computation.ts';
import { clientOf, readyComputation } from './seed.ts';

const isFull = amount({ sample: false, full: true });

export function tellRuns(world: () => ConsoleWorld): void {
  /** Reports for a CVM that its run has stopped. */
  const reportStopped = async (cvmID: string, run_id: string) => {
    const cvm = await clientOf(world(), 'cvm', ['d1:cvm']);
    const event = { type: 'event', id: randomUUID(), run_id, event_type: 'Stopped', status: 'Stopped' } as const;
    await cvm.report({ cvmID, body: { reports: [event] } });
  };

  it('shows the reason of a run that fails, its events, and saves its evidence as one file', async () => {
    const { id } = await readyComputation(world(), 'Fails');
    const alice = await arrive(world(), { user: 'alice', roles: ['runner'], path: `computations/${id}` });
    await alice.startRun('sim-fail-1');
    await alice.page.getByText('The run failed').waitFor();
    await alice.page.getByRole('link', { name: 'Share the log of the next run' }).waitFor();
    expect(await alice.page.getByText('the last run that completed').count()).toBe(0);
    await alice.page.getByRole('list', { name: 'Events of the run' }).getByText('Algorithm run').waitFor();
    const saved = alice.page.waitForEvent('download');
    await alice.page.getByRole('button', { name: 'Download evidence' }).click();
    await alice.page.getByText('are saved as one file').waitFor();
    expect((await saved).suggestedFilename()).toMatch(/^evidence-[\da-f-]{36}\.json$/);
    expect(await violationsOn(alice.page)).toEqual([]);

    await alice.open(`computations/${id}?tab=events`);
    const events = alice.page.getByRole('grid', { name: 'Events' });
    for (const status of ['Starting', 'InProgress', 'Failed']) await events.getByText(`Running (${status})`).waitFor();
    await alice.page.getByRole('button', { name: /^Event / }).click();
    await alice.page.getByLabel('Find: Event').fill('RUN ST');
    await alice.page.getByRole('option', { name: 'Run started' }).click();
    await alice.page.waitForURL(({ searchParams }) => searchParams.get('type') === 'started');
    await alice.page.getByRole('heading', { name: 'Events (1)' }).waitFor();
    await alice.open(`computations/${id}?tab=events&type=OwnType`);
    await alice.page.getByRole('heading', { name: 'Events (0)' }).waitFor();
    await alice.page.getByRole('button', { name: 'Event Own type' }).waitFor();
    await alice.open(`computations?status=failed`);
    await alice.page.getByRole('grid', { name: 'Computations' }).getByRole('link', { name: 'Fails' }).waitFor();

    const names: string[] = [];
    alice.page.on('request', (request) => {
      const { pathname, search } = new URL(request.url());
      if (search === '?peek=true') names.push(pathname);
    });
    await alice.page.evaluate(withoutRefresh);
    await alice.open('runs');
    await alice.page.getByRole('grid', { name: 'Runs' }).getByRole('link', { name: 'Fails' }).waitFor();
    const again = alice.page.waitForResponse(/computations\/runs\?/);
    await alice.page.getByRole('button', { name: 'Refresh runs' }).click();
    await again;
    expect(names).toContain(`/d1/computations/${id}`);
    expect(names, 'no name is read again').toEqual([...new Set(names)]);
  });

  it('stops a run that goes on, also if the computation could not be loaded at first', async () => {
    const { id } = await readyComputation(world(), 'Takes long');
    const alice = await arrive(world(), {
      user: 'alice',
      roles: ['runner'],
      provokes: /status of 500/,
      path: `computations/${id}`,
    });
    await alice.startRun('sim-ignore-stop-1'); // works without an end, however slow the browser is
    const run_id = new URL(alice.page.url()).pathname.split('/').at(-1) ?? '';

    await alice.page.route(`**/d1/computations/${id}`, (route) => route.fulfill({ status: 500 }), { times: 1 });
    await alice.page.getByRole('tab', { name: 'Manifest' }).click();
    await alice.page.reload();
    await alice.page.getByRole('tab', { name: 'Manifest', selected: true }).waitFor();
    await alice.page.goBack();
    await alice.page.getByRole('tab', { name: 'Timeline', selected: true }).waitFor();
    await alice.page.getByRole('button', { name: 'Retry' }).click();

    await alice.page.getByRole('button', { name: 'Stop run' }).click();
    await alice.page.getByRole('dialog').waitFor();
    expect(await violationsOn(alice.page)).toEqual([]);
    await alice.page.getByRole('dialog').getByRole('button', { name: 'Stop run' }).click();
    await alice.page.getByRole('dialog').waitFor({ state: 'hidden' });
    await reportStopped('sim-ignore-stop-1', run_id);
    await alice.page.getByText('The run was cancelled').waitFor();
    expect(await nameOfFocus(alice.page)).toMatch(/^Run of /);
  });

  it('lets who has unlinked a dataset since a run started stop it, and nobody who has linked one since', async () => {
    const [owner, bob, carol] = await Promise.all([
      clientOf(world(), 'alice', ['d1:administrator']),
      clientOf(world(), 'bob', ['d1:dataset_provider']),
      clientOf(world(), 'carol', ['d1:dataset_provider']),
    ]);
    const { id: computationID } = await readyComputation(world(), 'Unlinked while it runs');
    const linked = async (client: typeof bob, file_name: string) => {
      const asset = { file_name, asset_type: 'dataset', asset: '', user_key: publicKey() } as const;
      const { id } = await client.createAsset({ body: { asset } });
      await client.linkAsset({ id, computationID });
      return { id, computationID };
    };
    const ofBob = await linked(bob, 'bob-readings.csv');
    const cvmID = 'sim-ignore-stop-unlinked'; // works without an end, however slow the browser is
    const run = await owner.startRun({ id: computationID, cvm: cvmID });
    await linked(carol, 'carol-readings.csv');
    await bob.unlinkAsset(ofBob);
    await bob.linkAsset(ofBob);
    await bob.unlinkAsset(ofBob);
    const inRun = await creatorsInRun(
      bob,
      await bob.getRun({ id: computationID }),
      AbortSignal.timeout(longestWaitInMilliseconds),
    );
    expect(inRun.toSorted()).toEqual(['alice', 'bob']);

    const party = await arrive(world(), {
      user: 'bob',
      roles: ['dataset_provider'],
      path: `computations/${computationID}/runs/${run}`,
    });
    await party.page.getByRole('button', { name: 'Stop run' }).click();
    await party.page.getByRole('dialog').getByRole('button', { name: 'Stop run' }).click();
    await party.page.getByRole('dialog').waitFor({ state: 'hidden' });
    await reportStopped(cvmID, run);
    await party.page.getByText('The run was cancelled').waitFor();
  });

  it.runIf(isFull)('stops no other run than the one that it shows', async () => {
    const { id } = await readyComputation(world(), 'Run again meanwhile');
    const owner = await clientOf(world(), 'alice', ['d1:runner']);
    const first = await owner.startRun({ id, cvm: 'sim-ignore-stop-first' });
    const { page, open } = await arrive(world(), { user: 'alice', roles: ['runner'], provokes: /ERR_FAILED/ });
    await page.route(/\/events\?.*after=/, (route) => route.abort()); // the page stays behind
    await open(`computations/${id}/runs/${first}`);
    await page.getByRole('button', { name: 'Stop run' }).click();
    await owner.stopRun({ id });
    await reportStopped('sim-ignore-stop-first', first);
    await waitForRun(owner, { id, run: first });
    const second = await owner.startRun({ id, cvm: 'sim-ignore-stop-second' });
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Stop run' }).click();
    await dialog.getByText('another one has been started since').waitFor();
    expect(await owner.getRun({ id })).toMatchObject({ id: second, status: 'running' });
    await owner.stopRun({ id });
    await reportStopped('sim-ignore-stop-second', second);
  });

  it('reads the latest events of a long run, the earlier ones on demand, and announces to screen readers only those that come', async () => {
    const { id } = await readyComputation(world(), 'Has many events');
    const alice = await arrive(world(), { user: 'alice', roles: ['runner'] });
    const cvm = await clientOf(world(), 'cvm', ['d1:cvm']);
    const place = { cvmID: 'sim-ignore-stop-announced' };
    const starter = await clientOf(world(), 'alice', ['d1:runner']);
    const run_id = await starter.startRun({ id, cvm: place.cvmID });
    const report = async (...statuses: string[]) => {
      const event = { type: 'event', run_id, event_type: 'Running' } as const;
      await cvm.report({ ...place, body: { reports: statuses.map((status) => ({ ...event, id: randomUUID(), status })) } });
    };
    for (let page = 0; page < 5; page++) await report(...Array.from({ length: 50 }, (_, each) => `Step ${each}`));
    await alice.page.addInitScript(noteAnnounced);
    await alice.page.addInitScript(setClockAhead);
    const asked: URL[] = [];
    alice.page.on('request', (request) => asked.push(new URL(request.url())));
    const readsWhole = () => asked.some(({ searchParams }) => Number(searchParams.get('offset')) > 150);
    await alice.page.goto(`/console/domains/d1/computations/${id}/runs/${run_id}`);
    await alice.page.locator('.timeline[aria-live=polite]').waitFor();
    const duration = alice.page.locator('dt:has-text("Duration") + dd');
    await duration.filter({ hasText: /^(\d+ s|\d min \d+ s)$/ }).waitFor(); // by the service's clock
    expect(await alice.page.locator('.timeline li').count()).toBeGreaterThan(150);
    await report('The last step');
    await alice.page.getByText('(The last step)').waitFor();
    const announced: string[] = await alice.page.evaluate('announced');
    expect(announced.filter((text) => text.includes('step'))).toHaveLength(1);
    expect(announced.filter((text) => text.includes('Step'))).toEqual([]);

    const total = async () => (await starter.listEvents({ id, run_id, limit: 1 })).total;
    const counted = async () => await alice.page.getByRole('heading', { name: `Timeline (${await total()})` }).count();
    await expect.poll(counted).toBe(1);
    expect(readsWhole()).toBe(false);
    await alice.page.getByRole('button', { name: /^Show \d+ earlier events$/ }).click();
    await expect.poll(async () => (await alice.page.locator('.timeline li').count()) - (await total())).toBe(1);
    expect(await alice.page.evaluate('document.activeElement === document.querySelector(".timeline li")')).toBe(true);
    expect(await alice.page.locator('.timeline li').first().innerText()).toContain('Run started');
    expect(readsWhole()).toBe(true);
    await starter.stopRun({ id });
  });

  it('shows any page of a list with the exact total, says which computations wait for what, and keeps filter and page in the address, typing as one step, and no unknown status', async () => {
    const client = await clientOf(world(), 'alice', ['d2:administrator']);
    for (let number = 1; number <= 30; number++)
      await client.createComputation({ domainID: 'd2', body: { name: `Number ${number}` } });
    const { page, open } = await arrive(world(), { user: 'vera', roles: ['viewer'], domain: 'd2', provokes: /403/ });
    await page.evaluate(withoutRefresh);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    const atOnce = { now: 0, most: 0 };
    await page.route('**/dryrun*', async (route) => {
      atOnce.now += 1;
      atOnce.most = Math.max(atOnce.most, atOnce.now);
      const response = await route.fetch();
      atOnce.now -= 1;
      await route.fulfill({ response });
    });
    const list = page.getByRole('grid', { name: 'Computations' });
    await page.getByRole('heading', { name: 'Computations (30)' }).waitFor();
    await list.getByRole('link', { name: 'Number 30' }).waitFor();
    // Without a request more for rows that are not in view.
    await list.getByText('The public key of alice, An algorithm').first().waitFor();
    const dryRuns = asked.filter((path) => path.endsWith('/dryrun'));
    expect([dryRuns.length > 0, dryRuns.length < 25, new Set(dryRuns).size]).toEqual([true, true, dryRuns.length]);
    await page.unrouteAll({ behavior: 'wait' });
    expect(atOnce.most).toBeLessThanOrEqual(3);
    // Asked again with each refresh of the list.
    const refusal = { status: 403, code: 'forbidden', detail: 'No longer a viewer.' };
    await page.route('**/dryrun*', (route) =>
      route.fulfill({ status: 403, contentType: 'application/problem+json', json: refusal }),
    );
    await page.getByRole('button', { name: 'Refresh computations' }).click();
    await list.getByText('Not known. No longer a viewer.').first().waitFor();
    await page.unrouteAll({ behavior: 'wait' });
    await page.getByRole('button', { name: 'Refresh computations' }).click();
    await list.getByText('The public key of alice, An algorithm').first().waitFor();
    await page.getByRole('button', { name: 'Next page' }).click();
    await list.getByRole('link', { name: 'Number 1', exact: true }).waitFor();
    const address = page.url();
    expect(address).toContain('page=2');
    await list.getByRole('link', { name: 'Number 1', exact: true }).click();
    await page.getByRole('heading', { name: 'Number 1', level: 1 }).waitFor();
    await page.goBack();
    await list.getByRole('link', { name: 'Number 1', exact: true }).waitFor();
    expect(page.url()).toBe(address);
    await page.reload();
    await list.getByRole('link', { name: 'Number 1', exact: true }).waitFor();

    const filter = page.getByRole('combobox', { name: 'Filter by status, owner or whom it waits for' });
    await filter.fill('Owner = bo');
    await filter.fill('Owner = bob');
    await filter.press('Enter');
    await page.waitForURL(({ searchParams }) => searchParams.get('owner') === 'bob');
    await page.goBack();
    await list.getByRole('link', { name: 'Number 1', exact: true }).waitFor();
    expect(page.url()).toBe(address);

    await open('computations?status=unknown');
    await page.getByRole('heading', { name: 'Computations (30)' }).waitFor();
    expect(await page.getByText('Status = unknown').count()).toBe(0);
    // One box has all filters. The service refuses these two together: the last choice counts.
    await filter.fill('Status = created');
    await filter.press('Enter');
    await filter.fill('Waits for = me');
    await filter.press('Enter');
    await page.waitForURL(({ search }) => search === '?status=created&waiting_for=me');
    await page.getByText('Nothing matches the filters.').waitFor();
    await filter.fill('Owner = alice');
    await filter.press('Enter');
    await page.waitForURL(({ search }) => search === '?status=created&owner=alice');
    await page.getByRole('heading', { name: 'Computations (30)' }).waitFor();
    expect(await violationsOn(page)).toEqual([]);
  });

  it('offers a viewer nothing that the API would refuse', async () => {
    const { id } = await readyComputation(world(), 'Looked at');
    const carol = await arrive(world(), { user: 'carol', roles: ['viewer'] });
    expect(await carol.page.getByRole('link', { name: 'Create computation' }).count()).toBe(0);
    await carol.open(`computations/${id}`);
    await carol.page.getByRole('heading', { name: 'Looked at', level: 1 }).waitFor();
    for (const name of ['Start run', 'Delete', 'Link asset', 'Review and approve']) {
      expect(await carol.page.locator('main').getByText(name, { exact: true }).count()).toBe(0);
    }
    for (const [path, header, needed] of [
      ['computations/new', 'You may not create computations', 'administrator or creator'],
      ['assets/new', 'You may not upload assets', 'administrator, creator, algo_provider or dataset_provider'],
      [`computations/${id}/edit`, 'You may not edit this computation', 'administrator or editor, or being its owner'],
    ] as const) {
      await carol.open(path);
      await carol.page.getByText(header).waitFor();
      await carol.page.getByText(`Requires the role ${needed}. Ask an administrator`).waitFor();
      expect(await carol.page.locator('main').getByRole('textbox').count()).toBe(0);
    }
    await carol.page.goto('/console/domains/d9/computations');
    await carol.page.getByText('You have no role in the domain d9').waitFor();
  });
}

/** Sets the browser's clock ten minutes ahead. */
const setClockAhead = `{
  const now = Date.now;
  Date.now = () => now() + 600_000;
}`;

/** Keeps the texts that a timeline adds while screen readers announce what it adds. */
const noteAnnounced = `
  announced = [];
  new MutationObserver((changes) => {
    for (const { target, addedNodes } of changes) {
      if (!target.matches?.('.timeline[aria-live=polite]')) continue;
      for (const node of addedNodes) announced.push(node.textContent);
    }
  }).observe(document, { childList: true, subtree: true });
`;
