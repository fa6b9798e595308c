import { createHash } from 'node:crypto';
import { aRegisteredCvm, anAcceptedRun, anOfferedRun, aStartedRun, aCvm, type BenchWorld } from '../../bench/bench-world.ts';
import { openService, type GatewayService } from '../../gateway/service.ts';
import { skippingClock } from '../support/skipping-clock.ts';

type Call = () => Promise<unknown>;

/** What a gateway asks of the service, by method. Prepares a world and returns a call that the gateway repeats until it succeeds. */
export const gatewayCases: Record<keyof GatewayService, Record<string, (world: BenchWorld) => Promise<Call>>> = {
  pendingCommands: {
    'one of a run': async (world) => {
      await anOfferedRun(world);
      return () => service().pendingCommands();
    },
  },
  work: {
    'a run': async (world) => {
      const { cvm } = await offered(world);
      return () => service().work(cvm);
    },
  },
  report: {
    acceptance: async (world) => {
      const { cvm, run_id, command_id } = await offered(world);
      return () => service().report(cvm, [{ type: 'accepted', id: '1', run_id, command_id, reason: '' }]);
    },
    'the end, after two events': async (world) => {
      const { cvmID, run_id } = await anAcceptedRun(world);
      const event = { type: 'event' as const, run_id, originator: 'agent' as const };
      return () =>
        service().report({ domain: world.domain, cvmId: cvmID }, [
          { ...event, id: '1', event_type: 'ReceivingAlgorithm', status: 'InProgress' },
          { ...event, id: '2', event_type: 'Running', status: 'InProgress' },
          { ...event, id: '3', event_type: 'Complete', status: 'Completed' },
        ]);
    },
    'a heartbeat': async (world) => {
      const { cvmID, run_id } = await anAcceptedRun(world);
      return () => service().report({ domain: world.domain, cvmId: cvmID }, [{ type: 'heartbeat', run_id }]);
    },
  },
  registeredCertificate: {
    '': async (world) => {
      const cvm = await registered(world);
      return () => service().registeredCertificate(cvm);
    },
  },
  noteConnected: {
    '': async (world) => {
      const cvm = await registered(world);
      return () => service().noteConnected(cvm);
    },
  },
  agentRecord: {
    none: async ({ domain }) => {
      const cvm = { domain, cvmId: aCvm() };
      return () => service().agentRecord(cvm);
    },
  },
  bindAgent: {
    'to its first run': async (world) => {
      const { cvm, run } = await started(world);
      return () => service().bindAgent(cvm, { ...run, attempted_run_id: run.run_id, attempts: 1 });
    },
  },
  keepAttestationOfRun: {
    'of an agent that sent one': async (world) => {
      const { cvm, run } = await started(world);
      await service().recordAgentProcess(cvm, { kept: {}, ...attestation });
      return () => service().keepAttestationOfRun(cvm, run);
    },
    'of an agent that sent none': async (world) => {
      const { cvm, run } = await started(world);
      return () => service().keepAttestationOfRun(cvm, run);
    },
  },
  recordAgentProcess: {
    'with an attestation': async ({ domain }) => {
      const cvm = { domain, cvmId: aCvm() };
      return () => service().recordAgentProcess(cvm, { kept: {}, ...attestation });
    },
    'without one': async ({ domain }) => {
      const cvm = { domain, cvmId: aCvm() };
      return () => service().recordAgentProcess(cvm, { kept: {}, attestation: new Uint8Array(), attestation_hash: '' });
    },
  },
};

const service = () => openService(skippingClock());

const token = Buffer.from('a token');
const attestation = { attestation: token, attestation_hash: createHash('sha256').update(token).digest('hex') };

async function offered(world: BenchWorld) {
  const { cvmID, run_id, claim } = await anOfferedRun(world);
  return { cvm: { domain: world.domain, cvmId: cvmID }, run_id, command_id: claim.run_command_id };
}

async function started(world: BenchWorld) {
  const { id, cvmID, run_id } = await aStartedRun(world);
  return { cvm: { domain: world.domain, cvmId: cvmID }, run: { run_id, computation_id: id } };
}

async function registered({ stores, domain }: BenchWorld) {
  return { domain, cvmId: await aRegisteredCvm(stores.table, domain) };
}
