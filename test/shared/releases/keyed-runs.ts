import { createHash, generateKeyPairSync, randomUUID } from 'node:crypto';
import type { ApprovalInput } from '../../../shared/approvals/approval.ts';
import { approve } from '../../../shared/approvals/approve.ts';
import { registerCvm } from '../../../shared/cvms/register-cvm.ts';
import { recordReports } from '../../../shared/cvms/record-reports.ts';
import type { KeyRequest } from '../../../shared/releases/release-key.ts';
import { setCommandStream } from '../../../shared/rows/command-stream.ts';
import type { KeySession } from '../../../shared/rows/key-session.ts';
import { startRun } from '../../../shared/runs/start-run.ts';
import { cvmKeys } from '../../../shared/table/keys.ts';
import { putItem } from '../../../shared/table/writes.ts';
import { anAgentEvent, aSharedComputation, byAlice, digestsOf, keyAsset, type Stores } from '../../support/builders-store.ts';
import { strictPolicy } from '../../support/strict-policy.ts';

const domain = 'd1';
const tee_key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' }) as Record<string, unknown>;

/** A computation of alice with a keyed dataset of bob, whose approval is needed, and the CVM that attested for it. */
export class KeyedComputation {
  readonly stores: Stores;
  readonly cvm: string;
  readonly id: string;
  readonly dataset: string;
  /** The stream over which the agent takes commands and answers, and the one over which it attested. */
  streams = { held: '', attested: '' };

  private constructor(stores: Stores, { id, dataset }: { id: string; dataset: string }) {
    [this.stores, this.id, this.dataset, this.cvm] = [stores, id, dataset, `cvm-${randomUUID()}`];
  }

  static async make(stores: Stores): Promise<KeyedComputation> {
    const made = new KeyedComputation(stores, await aSharedComputation(stores, domain));
    await made.connect();
    await keyAsset(stores.table, domain, made.dataset);
    return made;
  }

  /** Approves as bob what there is now. */
  async approve(given: Partial<ApprovalInput> = {}, now: string = byAlice.now): Promise<void> {
    const digests = await digestsOf(this.stores, domain, this.id);
    const request = { domain, computationId: this.id, given: { ...digests, ...given }, by: 'bob', permit: byAlice.permit };
    await approve(this.stores.table, { ...request, now });
  }

  /** Starts a run, which the agent process gets. Returns its identifier. */
  async start(now: string = byAlice.now): Promise<string> {
    const { table, executions } = this.stores;
    const { runId } = await startRun(table, executions, { ...byAlice, domain, computationId: this.id, cvmId: this.cvm, now });
    this.streams = { held: this.streams.held, attested: this.streams.held };
    await this.replaceAgent(runId);
    return runId;
  }

  /** Makes another agent process the one of the CVM: that of a run, or one without a run. */
  async replaceAgent(runId?: string): Promise<void> {
    const ofRun = runId === undefined ? {} : { run_id: runId, computation_id: this.id };
    const process = runId === undefined ? randomUUID() : `process of ${runId}`;
    await putItem(this.stores.table, {
      ...cvmKeys.agent(domain, this.cvm),
      ...ofRun,
      process,
      attested_stream: this.streams.attested,
    });
  }

  /** Registers the CVM, and lets its agent take commands over a stream: a new one each time. */
  async connect(now: string = byAlice.now): Promise<void> {
    const { table } = this.stores;
    const cvm = { domain, cvmId: this.cvm };
    const [before, held] = [this.streams.held, randomUUID()];
    if (before === '') await registerCvm(table, { by: 'root', ...cvm, given: { description: '', certificate: null }, now });
    const instead = before === '' ? undefined : { gateway: 'gateway', stream: before };
    await setCommandStream(table, cvm, { commandStream: { gateway: 'gateway', stream: held }, instead, now });
    this.streams.held = held;
  }

  async accept(runId: string, now: string = byAlice.now): Promise<void> {
    const { table, executions } = this.stores;
    const reports = [anAgentEvent(runId, `accepted ${runId}`)];
    await recordReports(table, executions, { domain, cvmId: this.cvm, reports, now });
  }

  /** The request of the guest of a run for its key, whose agent answers that it receives. */
  request(runId: string): KeyRequest {
    const run = { domain, computation_id: this.id, run_id: runId, cvm_id: this.cvm, asks_parties: true };
    const process = { domain, cvmId: this.cvm, process: `process of ${runId}` };
    return {
      run: { run, process, tokens: [] },
      session: sessionOf(createHash('sha256').update(runId).digest('hex')),
      asset: this.dataset,
      answered: { state: 'ReceivingData', stream: this.streams.held },
    };
  }
}

/** The session of a guest whose evidence satisfies the policy of the key. */
const sessionOf = (guest: string): KeySession => ({
  session: 'session',
  attestation: {
    platform: 'snp',
    verified_at: byAlice.now,
    verdict: 'verified',
    checks: ['signature', 'debug'].map((name) => ({ name, passed: true, detail: '' })),
    measurement: strictPolicy.measurements[0] ?? null,
    tcb: { bootloader: 4, tee: 0, snp: 8, microcode: 200 },
    token_hash: 'ab'.repeat(32),
    guest,
    vmpl: 0,
    pcrs: null,
  },
  tee_key,
  evidence_hash: 'cd'.repeat(32),
  attested_at: byAlice.now,
});
