import type { Schemas } from 'computation-management-client';
import type { Locator, Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { longestWaitInMilliseconds } from '../support/patience.ts';
import type { ConsoleWorld } from './console-world.ts';
import { nameOfFocus } from './focus.ts';
import { arrive } from './party.ts';
import { clientOf } from './seed.ts';

/** Stories about what screens say of the service's own facts. */
export function tellFacts(world: () => ConsoleWorld): void {
  it('shows in the chart and the table of the statistics how many computations entered each status on each day', async () => {
    const domainID = 'counted';
    const client = await clientOf(world(), 'alice', [`${domainID}:administrator`]);
    for (const name of ['One', 'Two', 'Three']) await client.createComputation({ domainID, body: { name } });
    const { comp_stats } = await client.getStatistics({ domainID });
    const [{ day: today, ...rest } = expect.unreachable('Nothing is counted.')] = comp_stats;
    expect([rest, comp_stats.length]).toEqual([{ status: 'created', count: 3 }, 1]);

    // The service counts what happens now. Of earlier days it says what the test adds.
    const added = [
      { day: dayBefore(today, 2), status: 'created', count: 4 },
      { day: dayBefore(today, 2), status: 'failed', count: 12 },
      { day: today, status: 'completed', count: 2 },
    ];
    const { page, open } = await arrive(world(), { user: 'alice', roles: ['viewer'], domain: domainID });
    await page.route('**/computations/statistics?*', async (route) => {
      const answer = await route.fetch();
      const { comp_stats: counted } = (await answer.json()) as { comp_stats: object[] };
      await route.fulfill({ response: answer, json: { comp_stats: [...added, ...counted] } });
    });
    await open('statistics');
    const chart = page.getByRole('application', { name: 'Computations by day and status' });
    await chart.getByText(dayText(today, 2), { exact: true }).first().waitFor();
    for (const [status, days] of [
      ['Created', 2],
      ['Completed', 1],
      ['Failed', 1],
    ] as const) {
      await expect.poll(() => drawnBars(page, status), { timeout: longestWaitInMilliseconds }).toBe(days);
    }
    const totals = page.getByRole('table', { name: 'In total' });
    await expect
      .poll(() => cellsOf(totals), { timeout: longestWaitInMilliseconds })
      .toEqual(['Created 7', 'Completed 2', 'Failed 12']);
  });

  it('shows which CVMs are connected, which were never seen, and when one was last seen', async () => {
    const domainID = 'watched';
    const client = await clientOf(world(), 'alice', [`${domainID}:administrator`]);
    const cvms = ['cvm-heard', 'cvm-never', 'cvm-lost'];
    for (const cvmID of cvms) await client.registerCvm({ domainID, cvmID, body: { description: 'Rack 1' } });
    const { page, open } = await arrive(world(), { user: 'alice', roles: ['viewer'], domain: domainID });
    const lost: Schemas['Presence'] = { state: 'disconnected', last_seen_at: hoursAgo(2.5), agent_state: null, fit: 'ready' };
    // Of one the test says that it was last heard two hours ago.
    await page.route(/\/cvms(\?|\/cvm-lost)/, async (route) => {
      const answer = await route.fetch();
      const json = JSON.stringify(await answer.json());
      const changed = JSON.parse(json, (_, value: { id?: string } | null) =>
        value?.id === 'cvm-lost' ? { ...value, presence: lost } : value,
      ) as object;
      await route.fulfill({ response: answer, json: changed });
    });
    await open('cvms');
    const list = page.getByRole('grid', { name: 'CVMs' });
    await list.getByRole('link', { name: 'cvm-heard' }).waitFor();
    await expect
      .poll(() => cellsOf(list), { timeout: longestWaitInMilliseconds })
      .toEqual([
        'cvm-lost Disconnected Last reported: ready Rack 1 2 hours ago',
        'cvm-never Disconnected Unknown Rack 1 Never',
        'cvm-heard Disconnected Unknown Rack 1 Never',
      ]);

    const cvm = await clientOf(world(), 'cvm', [`${domainID}:cvm`]);
    const beat = () => cvm.report({ domainID, cvmID: 'cvm-heard', body: { reports: [{ type: 'heartbeat', fit: 'ready' }] } });
    const afterBeat = async () => {
      await beat(); // one counts for a minute
      await page.getByRole('button', { name: 'Refresh cvms' }).click();
      return await cellsOf(list);
    };
    const heard = 'cvm-heard Connected Ready for a run Rack 1 just now';
    await expect.poll(afterBeat, { timeout: longestWaitInMilliseconds, interval: 1_000 }).toContain(heard);
    for (const [name, facts] of [
      ['cvm-heard', ['Connected', 'Ready for a run']],
      ['cvm-never', ['Disconnected', 'Never']],
      ['cvm-lost', ['Disconnected', 'Last reported: ready', '2 hours ago']],
    ] as const) {
      if (name === 'cvm-heard') await beat();
      await open(`cvms/${name}`);
      await page.getByRole('heading', { name, level: 1 }).waitFor();
      for (const fact of facts) await page.getByRole('main').getByText(fact, { exact: true }).first().waitFor();
    }
  });

  it('shows how far an upload is, until the file has arrived, and has the focus at the title then', async () => {
    const { page } = await arrive(world(), { user: 'alice', roles: ['administrator'] });
    const network = await page.context().newCDPSession(page);
    const limit = (uploadThroughput: number) =>
      network.send('Network.emulateNetworkConditions', { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput });
    await page.goto('/console/domains/d1/assets/new');
    const buffer = Buffer.alloc(1_000_000, 'a,b\n');
    await page.locator('input[type=file]').setInputFiles({ name: 'watched.csv', mimeType: 'text/csv', buffer });
    await page.getByText(/^977\sKiB$/).waitFor();
    await limit(20_000); // bytes a second: 50 s, far more than the test looks
    await page.getByRole('button', { name: 'Upload', exact: true }).click();
    const bar = page.getByRole('progressbar', { name: 'Uploading watched.csv' });
    const percent = async () => Number(await bar.getAttribute('value'));
    const expectBelow100 = async (least: number) => {
      await expect.poll(percent, { timeout: longestWaitInMilliseconds }).toBeGreaterThan(least);
      const shown = await percent();
      expect(shown).toBeLessThan(100);
      return shown;
    };
    const first = await expectBelow100(0);
    await expectBelow100(first);
    await page
      .getByText(/^[\d.]+\sKi?B of 977\sKi?B$/)
      .first()
      .waitFor();
    await limit(-1);
    await page.getByRole('button', { name: 'Download watched.csv' }).waitFor();
    await page.getByText('watched.csv is uploaded.').waitFor();
    expect(await page.getByRole('progressbar').count()).toBe(0);
    expect(await nameOfFocus(page)).toBe('watched.csv');
  });

  it('offers mail about open tasks, and says why it cannot be turned on', async () => {
    const { page, open } = await arrive(world(), { user: 'mia', roles: ['viewer'], path: 'todo', provokes: /status of 409/ });
    const mail = page.getByRole('checkbox', { name: /^Mail me when something begins to wait/ });
    await page.getByText('The operator of this service has not set up mail.').waitFor();
    expect(await mail.isDisabled()).toBe(true);
    await page.route('**/notifications', async (route) => {
      const answer = await route.fetch();
      const json = (await answer.json()) as object;
      await route.fulfill({ response: answer, json: answer.ok() ? { ...json, is_sent: true } : json });
    });
    await open('runs');
    await open('todo');
    await mail.click();
    await page.getByText('Your sign-in gives this service no verified address.').waitFor();
    expect(await mail.isChecked()).toBe(false);
    await page.route('**/notifications', (route) => route.fulfill({ json: { email: true, is_sent: true } }));
    await mail.click();
    await expect.poll(() => mail.isChecked()).toBe(true);
  });
}

/** Returns the texts of the rows of a table, without its header. */
async function cellsOf(table: Locator): Promise<string[]> {
  const rows = await table.locator('tbody tr').all();
  return await Promise.all(rows.map(async (row) => (await row.innerText()).replaceAll(/\s+/g, ' ').trim()));
}

/** Returns how many days have a bar of the status. */
async function drawnBars(page: Page, status: string): Promise<number> {
  const bars = await page.locator(`[role=application] g[aria-label=${status}] :is(rect, path)`).all();
  const boxes = await Promise.all(bars.map((bar) => bar.boundingBox()));
  return boxes.filter((box) => box !== null && box.height > 1).length;
}

function dayBefore(day: string, days: number): string {
  return new Date(Date.parse(day) - days * 86_400_000).toISOString().slice(0, 10);
}

/** Returns the day as the chart names it. */
function dayText(today: string, daysAgo: number): string {
  const day = new Date(dayBefore(today, daysAgo));
  return new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' }).format(day);
}

function hoursAgo(hours: number): string {
  return new Date(Date.now() - hours * 3_600_000).toISOString();
}
