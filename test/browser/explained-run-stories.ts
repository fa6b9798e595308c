import { randomUUID } from 'node:crypto';
import { type Schemas, waitForRun } from 'computation-management-client';
import { expect, it } from 'vitest';
import { publicKey } from '../support/ready-computation.ts';
import { type ConsoleWorld, violationsOn } from './console-world.ts';
import { arrive } from './party.ts';
import { clientOf, readyComputation } from './seed.ts';

/** Stories about what a run's screen says of its course and its end. */
export function tellOfExplainedRuns(world: () => ConsoleWorld): void {
  it('says why and in which phase a run failed, its last log lines, and what differed from the last good run, and runs it again', async () => {
    const { id } = await readyComputation(world(), 'Explained');
    const client = await clientOf(world(), 'alice', ['d1:administrator']);
    const good = await client.startRun({ id, cvm: 'sim-explained' });
    await waitForRun(client, { id, run: good });
    await client.updateComputation({ id, body: { name: 'Explained', description: 'Another', log_access: 'parties' } });
    const run = await client.startRun({ id, cvm: 'sim-fail-explained' });
    await waitForRun(client, { id, run });

    const { page, open } = await arrive(world(), { user: 'alice', roles: ['runner'] });
    // No gateway writes logs of simulated CVMs, and no simulated CVM is attested.
    const time = '2025-07-17T08:00:00.000Z';
    const lines = Array.from({ length: 30 }, (_, each) => ({ time, level: 'error', message: `Line ${each} \u202Ereversed` }));
    await page.route(/\/logs\?/, (route) => {
      const isFirst = new URL(route.request().url()).searchParams.get('after') === '';
      return route.fulfill({ json: { logs: isFirst ? lines : [], next: 'n' } satisfies Schemas['LogPage'] });
    });
    const check = { name: 'certificate_tcb', passed: false, detail: 'the certificate is for other versions' };
    const found = { verdict: 'refused' as 'refused' | 'verified', checks: [check] };
    await page.route(/\/attestation\?/, (route) =>
      route.fulfill({
        json: { run_id: run, ...found, tokens: [] } satisfies Schemas['AttestationOfRun'],
      }),
    );
    await open(`computations/${id}/runs/${run}`);
    const main = page.locator('main');
    await main.getByText('The run failed: The algorithm failed').waitFor();
    await main.getByText('in the phase Running the algorithm').waitFor();
    await main.getByText('What differs from the last run that completed').waitFor();
    await main.getByText('the description was changed from "" to Another').waitFor();
    await main.getByText('the CVM was changed from sim-explained to sim-fail-explained').waitFor();
    await main.getByText('Line 29').waitFor();
    const log = await main.getByRole('log').innerText();
    expect([log.includes('Line 10 ‹U+202E›'), log.includes('Line 9 ')]).toEqual([true, false]);
    await main.getByText('Attestation refused').waitFor();
    expect(await main.getByRole('link', { name: 'Decide on which machines' }).count()).toBe(1);
    await main.getByRole('button', { name: '1 of 1 checks failed' }).click();
    await main.getByText('Certificate TCB:').waitFor();
    expect(await main.getByRole('list', { name: 'Phases of the run' }).getByRole('listitem').allInnerTexts()).toEqual([
      expect.stringMatching(/^Waiting for the CVM/),
      expect.stringMatching(/^Receiving the algorithm/),
      expect.stringMatching(/^Running the algorithm/),
    ]);
    expect(await violationsOn(page)).toEqual([]);
    await page.setViewportSize({ width: 360, height: 800 });
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await violationsOn(page)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);

    Object.assign(found, { verdict: 'verified', checks: [{ name: 'test_root', passed: true, detail: 'the root is a test' }] });
    await page.reload();
    await main.getByText('Test evidence: it proves nothing').waitFor();
    expect(await main.getByText('Attested').count()).toBe(0);

    await client.updateComputation({ id, body: { name: 'Explained', description: 'Another', log_access: 'none' } });
    await page.reload();
    await main.getByText('Nobody may read the log of the algorithm.').waitFor();
    // No gateway tells that an agent fetched another file.
    const changed: Partial<Schemas['Run']> = {
      reason_code: 'input_changed',
      reason: 'The agent fetched a.csv with another hash.',
    };
    await page.route(/\/run\?/, async (route) => {
      const answer = await route.fetch();
      await route.fulfill({ response: answer, json: { ...((await answer.json()) as Schemas['Run']), ...changed } });
    });
    await page.reload();
    await main.getByText('A file at its address is another than the approved one.').waitFor();
    await main.getByText('What differs from the last run that completed').waitFor();
    expect(await main.getByText('Nobody may read the log').count()).toBe(0);

    Object.assign(changed, { reason_code: null, reason: 'The agent has not attested itself over its present connection.' });
    await page.reload();
    await main.getByText('The machine did not prove what the policy demands.').waitFor();
    await main.getByRole('link', { name: 'Decide on which machines' }).waitFor();

    await main.getByRole('link', { name: 'Run again' }).click();
    expect(await page.getByRole('dialog').getByRole('combobox').inputValue()).toBe('sim-fail-explained');
    await page.getByRole('dialog').getByRole('button', { name: 'Start run' }).click();
    await page.waitForURL((url) => !url.pathname.endsWith(run) && url.pathname.includes('/runs/'));
  });

  it('shows log lines as they come and the commands of the parties, and tells of the end in the title and by a notification', async () => {
    const { id, asset } = await readyComputation(world(), 'Looked away');
    const client = await clientOf(world(), 'alice', ['d1:administrator', 'd1:cvm']);
    await client.unlinkAsset({ id: asset, computationID: id });
    const other = await clientOf(world(), 'You', ['d1:algo_provider']);
    const named = { file_name: 'the result, and fetch it.py', asset_type: 'algorithm', asset: btoa('1') } as const;
    await other.linkAsset({ id: (await other.createAsset({ body: { asset: named } })).id, computationID: id });
    await other.uploadKey({ id, body: { key: publicKey() } });
    const cvmID = 'sim-ignore-stop-away';
    const run_id = await client.startRun({ id, cvm: cvmID });
    await expect
      .poll(async () => (await client.listEvents({ id, run_id, event_type: 'Running' })).total, { message: 'it runs' })
      .toBeGreaterThan(1);
    await client.registerCvm({ cvmID, body: { description: '', agent_url: 'cvm.example.com:7002' } });
    await expect.poll(async () => (await client.find({ q: cvmID })).matches.length).toBe(1);
    const report = (event_type: string, status: string) =>
      client.report({ cvmID, body: { reports: [{ type: 'event', id: randomUUID(), run_id, event_type, status }] } });

    const { page, open } = await arrive(world(), { user: 'alice', roles: ['runner'] });
    const waits: (string | null)[] = [];
    await page.route(/\/logs\?/, async (route) => {
      const count = waits.push(new URL(route.request().url()).searchParams.get('wait'));
      const line = { time: new Date().toISOString(), level: 'info', message: `Line ${count}` };
      await route.fulfill({ json: { logs: count > 3 ? [] : [line], next: `${count}` } });
    });
    await open(`computations/${id}/runs/${run_id}?tab=log`);
    await page.getByText('Line 3').waitFor();
    expect(waits.slice(0, 3)).toEqual(['20', '20', '20']);
    await report('ReceivingAlgorithm', 'InProgress');
    await page.getByText('The agent is at cvm.example.com:7002. Ask the owner').waitFor();
    await page.getByText(`cms send FILE --type TYPE --computation ${id} --run ${run_id}`).waitFor();
    // What another user is called cannot pass for oneself, nor the name of a file for more words.
    const step = page.getByRole('listitem').filter({ hasText: 'cms send' });
    expect(await step.locator('.name').allInnerTexts()).toEqual(['"You"', 'the result, and fetch it.py']);
    await report('Complete', 'Completed');
    await page.getByText('The run completed').waitFor();
    await open(`cvms/${cvmID}`);
    await page.getByText('Not verified: no attestation').waitFor();
    expect(await page.getByText('Not proven').count()).toBe(2);
    await page.getByText('cvm.example.com:7002').waitFor();
  });
}
