import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { type Client, createClient, type Data, type Schemas, ServiceProblem } from 'computation-management-client';
import type { EmulatedStage } from './emulated-stage.ts';
import { emulatorFetch } from './emulator-client.ts';
import type { Emulator } from './emulator.ts';

const computationsInAll = 12;
/** The number of computations, and of their assets, that the damage leaves. */
const kept = 6;

/** A busy machine answers 503 while functions start. */
const retry = { attempts: 11, firstPauseInMilliseconds: 1_000, longestPauseInMilliseconds: 2_000 };

/** The domain as callers see it: lists with their totals, and all content. */
export interface Seen {
  computations: Data<'listComputations'>;
  assets: Data<'listAssets'>;
  statistics: Data<'getStatistics'>;
  content: Record<string, string | undefined>;
}

type NewReport = Omit<Schemas['AcceptedReport'], 'id'> | Omit<Schemas['EventReport'], 'id'>;

/** Uses a stage as an administrator and as its CVM. */
export class DrillClient {
  private readonly administrator: Client;
  private readonly cvm: Client;
  private readonly assets: string[] = [];
  private readonly ready: string[] = [];
  private activeRun = '';

  constructor({ emulator, url, tokens }: Pick<EmulatedStage, 'url' | 'tokens'> & { emulator: Pick<Emulator, 'address'> }) {
    const clientOf = (token: string | undefined) =>
      createClient({ baseUrl: url, domain: 'rehearsal', token, retry, fetch: emulatorFetch(emulator.address) });
    this.administrator = clientOf(tokens['administrator']);
    this.cvm = clientOf(tokens['cvm']);
  }

  /** Creates computations with content, of which one has an active run. */
  async fill(): Promise<void> {
    for (let index = 0; index < computationsInAll; index++) await this.createReady(index);
    this.activeRun = await this.start('drill-1');
  }

  /** Creates a computation with content, runs it to its end, reads all of it again, and deletes it, as the canary does. */
  async round(): Promise<void> {
    const index = this.ready.length;
    const { id, asset } = await this.createReady(index);
    const cvm = `drill-${index}`;
    await this.complete(cvm, await this.start(cvm, id), id);
    const { name } = await this.administrator.getComputation({ id });
    const content = await this.contentOf(asset);
    if (name !== `Computation ${index}` || content !== btoa(`print(${index})`)) throw new Error(`Read ${name} with ${content}.`);
    await this.administrator.deleteComputation({ id });
  }

  async createReady(index: number): Promise<{ id: string; asset: string }> {
    const { id } = await this.administrator.createComputation({ body: { name: `Computation ${index}` } });
    const { id: asset } = await this.administrator.createAsset({
      body: { asset: { file_name: `algorithm-${index}.py`, asset_type: 'algorithm', asset: btoa(`print(${index})`) } },
    });
    await this.administrator.linkAsset({ id: asset, computationID: id });
    const key = generateKeyPairSync('ed25519').publicKey.export({ format: 'der', type: 'spki' }).toString('base64');
    await this.administrator.uploadKey({ id, body: { key } });
    this.assets.push(asset);
    this.ready.push(id);
    return { id, asset };
  }

  /** Starts a run, of the first computation unless told. @returns the run, once the CVM has accepted it */
  private async start(cvm: string, id = this.ready[0] ?? ''): Promise<string> {
    const run = await this.administrator.startRun({ id, cvm });
    for (let attempt = 0; attempt < 300; attempt++) {
      const { commands } = await this.cvm.listCommands({ cvmID: cvm });
      const [command] = commands;
      if (command) {
        await this.report(cvm, { run_id: run, type: 'accepted', command_id: command.id });
        return run;
      }
      await delay(200);
    }
    throw new Error(`The CVM ${cvm} got no command.`);
  }

  /** Starts a run that no CVM takes. @returns the run */
  async startOnly(): Promise<string> {
    const { id } = await this.createReady(this.ready.length);
    return await this.administrator.startRun({ id, cvm: `nobody-${id}` });
  }

  /** Creates an asset without content. @returns the key under which its upload is awaited */
  async expectUpload(): Promise<string> {
    const body = { asset: { file_name: 'uploaded.py', asset_type: 'algorithm' } } as const;
    const { upload } = await this.administrator.createAsset({ body });
    return `content/upload/${new URL(upload?.url ?? '').pathname.split('content/upload/')[1] ?? ''}`;
  }

  private async report(cvmID: string, report: NewReport): Promise<void> {
    await this.cvm.report({ cvmID, body: { reports: [{ id: randomUUID(), ...report }] } });
  }

  private async complete(cvm: string, run: string, id = this.ready[0] ?? ''): Promise<void> {
    await this.report(cvm, { run_id: run, type: 'event', event_type: 'Complete', status: 'Completed' });
    await this.untilOver(run, 'completed', id);
  }

  private async untilOver(run: string, status: string, id: string): Promise<void> {
    let seen = '';
    for (let attempt = 0; attempt < 300; attempt++) {
      seen = (await this.administrator.getRun({ id, run })).status;
      if (seen === status) return;
      await delay(200);
    }
    throw new Error(`The run ${run} is ${seen}, not ${status}.`);
  }

  /** Ends the run, deletes half of everything, changes the rest, and creates another computation. */
  async damage(): Promise<void> {
    await this.complete('drill-1', this.activeRun);
    for (const id of this.ready.slice(kept)) await this.administrator.deleteComputation({ id });
    for (const id of this.assets.slice(kept)) await this.administrator.deleteAsset({ id });
    for (const id of this.ready.slice(1, 4)) await this.administrator.updateComputation({ id, body: { name: 'Damaged' } });
    await this.administrator.createComputation({ body: { name: 'After the backup' } });
  }

  /** The number of assets with content that the damage deletes. */
  get deletedAssets(): number {
    return this.assets.slice(kept).length;
  }

  async look(): Promise<Seen> {
    const content: Seen['content'] = {};
    for (const id of this.assets) content[id] = await this.contentOf(id);
    return {
      computations: await this.administrator.listComputations({ limit: 100 }),
      assets: await this.administrator.listAssets({ limit: 100 }),
      statistics: await this.administrator.getStatistics(),
      content,
    };
  }

  /** Returns undefined if the asset cannot be read. */
  private async contentOf(id: string): Promise<string | undefined> {
    try {
      return (await this.administrator.getAsset({ id })).asset;
    } catch (error) {
      if (error instanceof ServiceProblem) return undefined;
      throw error;
    }
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

  /** Runs a computation to its end, and gets evidence of the run: its entries are in the log. */
  async runToCompletion(): Promise<void> {
    const run = await this.start('drill-2');
    await this.complete('drill-2', run);
    for (let attempt = 1; ; attempt++) {
      try {
        await this.administrator.getEvidence({ id: this.ready[0] ?? '', run });
        return;
      } catch (error) {
        if (!(error instanceof ServiceProblem) || error.reason !== 'log_pending' || attempt === 180) throw error;
        await delay(1_000);
      }
    }
  }
}
