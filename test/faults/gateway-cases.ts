import { randomUUID } from 'node:crypto';
import {
  aRegisteredCvm,
  anAcceptedRun,
  anOfferedRun,
  aRunWithLog,
  aStartedRun,
  aCvm,
  type BenchWorld,
} from '../bench/bench-world.ts';
import { openService, type GatewayService } from '../../gateway/session/service.ts';
import { byAlice } from '../support/builders-store.ts';
import { testClock } from '../support/test-clock.ts';

type Call = () => Promise<unknown>;

/**
 * The calls of a gateway to the service, by method. A case prepares a world and returns a call that the gateway repeats until it
 * succeeds.
 */
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
      const { cvm_id: cvmID, run_id } = await anAcceptedRun(world);
      const event = { type: 'event' as const, run_id, originator: 'agent' as const };
      return () =>
        service().report({ domain: world.domain, cvmId: cvmID }, [
          { ...event, id: '1', event_type: 'ReceivingAlgorithm', status: 'InProgress' },
          { ...event, id: '2', event_type: 'Running', status: 'InProgress' },
          { ...event, id: '3', event_type: 'Complete', status: 'Completed' },
        ]);
    },
    'a heartbeat': async (world) => {
      const { cvm_id: cvmID, run_id } = await anAcceptedRun(world);
      return () => service().report({ domain: world.domain, cvmId: cvmID }, [{ type: 'heartbeat', run_id }]);
    },
  },
  logState: {
    '': async (world) => {
      const run = await aRunWithLog(world);
      return () => service().logState(run);
    },
  },
  storeLines: {
    '': async (world) => {
      const run = await aRunWithLog(world);
      const lines = [{ time: byAlice.now, level: 'info', message: 'Agent is ready' }];
      return () => service().storeLines(run, { lines, size_in_bytes: 100, at: 1, part: '0' });
    },
  },
  registration: {
    '': async (world) => {
      const cvm = await registered(world);
      return () => service().registration(cvm);
    },
  },
  setCommandStream: {
    'of a CVM that no gateway holds': async (world) => {
      const cvm = await registered(world);
      return () => service().setCommandStream(cvm, { stream: 'stream-1', instead: undefined });
    },
    'in place of another gateway': async (world) => {
      const cvm = await registered(world);
      await service('gateway-2').setCommandStream(cvm, { stream: 'stream-2', instead: undefined });
      const instead = { gateway: 'gateway-2', stream: 'stream-2' };
      return () => service().setCommandStream(cvm, { stream: 'stream-1', instead });
    },
  },
  clearCommandStream: {
    '': async (world) => {
      const cvm = await registered(world);
      await service().setCommandStream(cvm, { stream: 'stream-1', instead: undefined });
      return () => service().clearCommandStream(cvm, { stream: 'stream-1', lastSeenAt: Date.parse(byAlice.now) });
    },
  },
  recordForwarder: {
    'that has come': async (world) => {
      const cvm = await registered(world);
      return () => service().recordForwarder(cvm, true);
    },
    'that has gone': async (world) => {
      const cvm = await registered(world);
      await service().recordForwarder(cvm, true);
      return () => service().recordForwarder(cvm, false);
    },
  },
  takeName: {
    'of a gateway that is gone': async () => {
      const name = randomUUID();
      await service('gateway-2').renewLease({ isOver: false });
      await service('gateway-2').takeName(name);
      return () => service().takeName(name);
    },
  },
  renewLease: {
    '': async () => () => service().renewLease({ isOver: false }),
  },
  isOfNewestDeployment: {
    '': async () => () => service().isOfNewestDeployment({ deployment: 1, startedAt: '2026-01-01T00:00:00.000Z' }),
  },
  isAlive: {
    '': async () => {
      await service('gateway-2').renewLease({ isOver: false });
      return () => service().isAlive('gateway-2');
    },
  },
  sendMessage: {
    '': async () => () => service().sendMessage('gateway-2', { type: 'answer', id: '1', state: 'Running' }),
  },
  messages: {
    '': async () => {
      await service('gateway-2').sendMessage(gateway, { type: 'answer', id: '1', state: 'Running' });
      return () => service().messages();
    },
  },
  removeMessage: {
    '': async () => {
      await service('gateway-2').sendMessage(gateway, { type: 'answer', id: '2', state: 'Running' });
      return () => service().removeMessage(gateway, '2');
    },
  },
  recordRefusal: {
    'during a run': async (world) => {
      const { cvm_id: cvmID } = await anAcceptedRun(world);
      const refusal = { reason: 'The CVM is registered with another certificate.', peer: '127.0.0.1:1' };
      return () => service().recordRefusal({ domain: world.domain, cvmId: cvmID }, refusal);
    },
  },
  manifestBefore: {
    'of a run': async (world) => {
      const { run } = await started(world);
      return () => service().manifestBefore(run, ['state:Running/InProgress']);
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
      const { run } = await started(world);
      const cvm = await registered(world);
      await service().setCommandStream(cvm, { stream: 'stream-1', instead: undefined });
      const bound = { ...run, attempted_run_id: run.run_id, attempts: 1 };
      const { certificate = '' } = (await service().registration(cvm)) ?? {};
      return () => service().bindAgent(cvm, { ...bound, stream: 'stream-1', certificate });
    },
  },
  keepProcessOfRun: {
    '': async (world) => {
      const { cvm, run } = await started(world);
      return () => service().keepProcessOfRun({ ...cvm, ...run, process: 'process' });
    },
  },
  recordAgentProcess: {
    'of a new process': async (world) => {
      const cvm = await registered(world);
      return () => service().recordAgentProcess(cvm, { before: {}, isNew: true, attestation_hash: 'hash', stream: 's' });
    },
    'of a known one': async (world) => {
      const cvm = await registered(world);
      const attested = { before: { process: 'process' }, isNew: false, attestation_hash: undefined, stream: 's' };
      return () => service().recordAgentProcess(cvm, attested);
    },
  },
  recordToken: {
    '': async (world) => {
      const process = { ...(await registered(world)), process: 'process' };
      return () => service().recordToken(process, { kind: 'eat', token: Buffer.from('token') });
    },
  },
};

const gateway = 'gateway-1';
const service = (id = gateway) => openService(testClock({ skipsWaits: true }), id);

async function offered(world: BenchWorld) {
  const { cvm_id: cvmID, run_id, claim } = await anOfferedRun(world);
  return { cvm: { domain: world.domain, cvmId: cvmID }, run_id, command_id: claim.run_command_id };
}

async function started(world: BenchWorld) {
  const { computation_id: id, cvm_id: cvmID, run_id } = await aStartedRun(world);
  return { cvm: { domain: world.domain, cvmId: cvmID }, run: { run_id, computation_id: id } };
}

async function registered({ stores, domain }: BenchWorld) {
  return { domain, cvmId: await aRegisteredCvm(stores.table, domain) };
}
