import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { DeployedStage } from './deployed-stage.ts';
import { askEmulator } from './emulator-client.ts';

const domain = 'rehearsal';
const computationsInAll = 12;
/** After 503, which a busy machine answers while functions start. */
const mostAttempts = 10;

type Body = Record<string, unknown>;

/** What callers see of the domain: lists with their totals, and all content. */
export interface Seen {
  computations: unknown;
  assets: unknown;
  statistics: unknown;
  content: Record<string, unknown>;
}

/** Uses a stage as an administrator and as its CVM. */
export class DrillClient {
  private readonly deployed: DeployedStage;
  private readonly assets: string[] = [];
  private readonly ready: string[] = [];
  private activeRun = '';

  constructor(deployed: DeployedStage) {
    this.deployed = deployed;
  }

  private async call(method: string, path: string, body?: unknown, person = 'administrator'): Promise<Body> {
    const { emulator, url, tokens } = this.deployed;
    const ask = () =>
      askEmulator(emulator.address, {
        path: `${new URL(url).pathname}/${domain}${path}`,
        method,
        headers: { authorization: `Bearer ${tokens[person] ?? ''}`, 'content-type': 'application/json', 'idempotency-key': key },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
    const key = randomUUID();
    let { status, text } = await ask();
    for (let attempt = 0; status === 503 && attempt < mostAttempts; attempt++) {
      await delay(1_000);
      ({ status, text } = await ask());
    }
    if (status >= 300) throw new Error(`${method} ${path} answered ${status}: ${text}`);
    return (text === '' ? {} : JSON.parse(text)) as Body;
  }

  /** Creates computations with content, of which one has an active run. */
  async fill(): Promise<void> {
    for (let index = 0; index < computationsInAll; index++) await this.createReady(index);
    this.activeRun = await this.start('drill-1');
  }

  private async createReady(index: number): Promise<void> {
    const { id } = await this.call('POST', '/computations', { name: `Computation ${index}` });
    const asset = { file_name: `algorithm-${index}.py`, asset_type: 'algorithm', asset: btoa(`print(${index})`) };
    const created = await this.call('POST', '/assets', { asset });
    await this.call('POST', `/assets/${String(created['id'])}/${String(id)}`);
    const key = generateKeyPairSync('ed25519').publicKey.export({ format: 'pem', type: 'spki' });
    await this.call('POST', `/computations/${String(id)}/key`, { key: Buffer.from(key).toString('base64') });
    this.assets.push(String(created['id']));
    this.ready.push(String(id));
  }

  /** Starts a run of the first computation. @returns the run, once the CVM has accepted it */
  private async start(cvm: string): Promise<string> {
    const run = (await this.call('POST', `/computations/${this.ready[0] ?? ''}/run?cvm=${cvm}`)) as unknown as string;
    for (let attempt = 0; attempt < 300; attempt++) {
      const { commands } = await this.call('GET', `/cvms/${cvm}/commands`, undefined, 'cvm');
      const [command] = commands as { id: string }[];
      if (command) {
        await this.report(cvm, { run_id: run, type: 'accepted', command_id: command.id });
        return run;
      }
      await delay(200);
    }
    throw new Error(`The CVM ${cvm} got no command.`);
  }

  private async report(cvm: string, report: Body): Promise<void> {
    await this.call('POST', `/cvms/${cvm}/reports`, { reports: [{ id: randomUUID(), ...report }] }, 'cvm');
  }

  private async complete(cvm: string, run: string): Promise<void> {
    await this.report(cvm, { run_id: run, type: 'event', event_type: 'Complete', status: 'Completed' });
    await this.untilOver(run, 'completed');
  }

  private async untilOver(run: string, status: string): Promise<void> {
    let seen: Body = {};
    for (let attempt = 0; attempt < 300; attempt++) {
      seen = await this.call('GET', `/computations/${this.ready[0] ?? ''}/run?run=${run}`);
      if (seen['status'] === status) return;
      await delay(200);
    }
    throw new Error(`The run ${run} is ${String(seen['status'])}, not ${status}.`);
  }

  /** Ends the run, deletes half of everything, changes the rest, and creates another computation. */
  async damage(): Promise<void> {
    await this.complete('drill-1', this.activeRun);
    for (const id of this.ready.slice(6)) await this.call('DELETE', `/computations/${id}`);
    for (const id of this.assets.slice(6)) await this.call('DELETE', `/assets/${id}`);
    for (const id of this.ready.slice(1, 4)) await this.call('PUT', `/computations/${id}`, { name: 'Damaged' });
    await this.call('POST', '/computations', { name: 'After the backup' });
  }

  async look(): Promise<Seen> {
    const content: Record<string, unknown> = {};
    for (const id of this.assets) content[id] = (await this.call('GET', `/assets/${id}`).catch(() => undefined))?.['asset'];
    return {
      computations: await this.call('GET', '/computations?limit=100'),
      assets: await this.call('GET', '/assets?limit=100'),
      statistics: await this.call('GET', '/computations/statistics'),
      content,
    };
  }

  /** @throws Error that names what did not come back */
  compare(before: Seen, after: Seen): void {
    const pairs: [string, unknown, unknown][] = [
      ['the computations and their total', before.computations, after.computations],
      ['the assets and their total', before.assets, after.assets],
      ['the content', before.content, after.content],
    ];
    for (const [what, was, is] of pairs) {
      if (!isDeepStrictEqual(was, is)) throw new Error(`Not as before: ${what}.\n${JSON.stringify(was)}\n${JSON.stringify(is)}`);
    }
  }

  /** The run that was active before the damage goes on: its CVM reports its end once more. */
  async completeResumed(): Promise<void> {
    await this.complete('drill-1', this.activeRun);
  }

  async runToCompletion(): Promise<void> {
    await this.complete('drill-2', await this.start('drill-2'));
  }
}
