import { timestampOf, type Clock } from '../../shared/runtime/clock.ts';
import {
  clearCommandStream,
  readRegistration,
  recordForwarder,
  setCommandStream,
  type CommandStream,
  type Registration,
} from '../../shared/cvms/command-stream.ts';
import {
  readMessagesToGateway,
  removeMessageToGateway,
  sendToGateway,
  type MessageToGateway,
} from '../../shared/cvms/messages-to-gateways.ts';
import { Deadline } from '../../shared/runtime/deadline.ts';
import { openKms } from '../../shared/runtime/kms.ts';
import {
  bindAgent,
  keepAttestationOfRun,
  readAgentRecord,
  recordAgentProcess,
  type AgentRecord,
  type AttestedRun,
  type AttestedProcess,
  type Binding,
} from '../../shared/runs/agent-record.ts';
import { type Command, listPendingCommands, type PendingCommand } from '../../shared/runs/commands.ts';
import { openExecutions } from '../../shared/runs/executions.ts';
import { isAlive, renewLease, takeName } from '../../shared/runs/gateway-lease.ts';
import { listCommands, openWork, type Work } from '../../shared/runs/list-commands.ts';
import { recordRefusal } from '../../shared/runs/record-refusal.ts';
import { recordReports } from '../../shared/runs/record-reports.ts';
import type { Report } from '../../shared/runs/report.ts';
import { batched } from '../../shared/table/batched.ts';
import type { Key } from '../../shared/table/keys.ts';
import { openTable } from '../../shared/table/open-table.ts';
import { getItems } from '../../shared/table/table.ts';
import type { CvmIdentity } from '../wire/identity.ts';

export type ReportResult = Awaited<ReturnType<typeof recordReports>>['results'][number];

/** What a gateway asks of the service. The same functions serve endpoints 25 and 26. */
export interface GatewayService {
  /** The commands of all CVMs that none has answered. */
  pendingCommands: () => Promise<PendingCommand[]>;
  work: (cvm: CvmIdentity) => Promise<Work<Command>>;
  report: (cvm: CvmIdentity, reports: Report[]) => Promise<ReportResult[]>;
  /** Undefined if the CVM is not registered. */
  registration: (cvm: CvmIdentity) => Promise<Registration | undefined>;
  /** Records that a stream of this gateway takes the CVM's commands. @returns false if `instead` does not any more */
  setCommandStream: (cvm: CvmIdentity, change: { stream: string; instead: CommandStream | undefined }) => Promise<boolean>;
  clearCommandStream: (cvm: CvmIdentity, cleared: { stream: string; lastSeenAt: number }) => Promise<void>;
  /** Records whether this gateway has a stream of the CVM's log-forwarder. */
  recordForwarder: (cvm: CvmIdentity, isThere: boolean) => Promise<void>;
  /** Gives this gateway its name. Ends the lease of the one that had it. */
  takeName: (name: string) => Promise<void>;
  /** Shows that this gateway is alive, or that it has shut down. */
  renewLease: (lease: { isOver: boolean }) => Promise<void>;
  /** Whether a gateway may still hold its streams. */
  isAlive: (gateway: string) => Promise<boolean>;
  /** The messages to this gateway. */
  messages: () => Promise<MessageToGateway[]>;
  sendMessage: (to: string, message: MessageToGateway) => Promise<void>;
  /** Removes a message to a gateway. */
  removeMessage: (to: string, id: string) => Promise<void>;
  /** Records in the journal of the CVM's active run that a stream was refused. Once an hour. */
  recordRefusal: (cvm: CvmIdentity, refusal: { reason: string; peer: string; isConflict?: boolean }) => Promise<void>;
  agentRecord: (cvm: CvmIdentity) => Promise<AgentRecord>;
  /** @returns false if the process has another run by now, or if the stream or its certificate is not the CVM's any more */
  bindAgent: (cvm: CvmIdentity, binding: Binding) => Promise<boolean>;
  keepAttestationOfRun: (cvm: CvmIdentity, run: AttestedRun) => Promise<void>;
  /** @returns undefined if a process of the CVM was given a run meanwhile */
  recordAgentProcess: (cvm: CvmIdentity, process: AttestedProcess) => Promise<AgentRecord | undefined>;
}

/** Opens the service with this process's own credentials. @param gateway identifies the process */
export function openService(clock: Clock, gateway: string): GatewayService {
  const deadline = () => new Deadline();
  const table = openTable(deadline);
  const executions = openExecutions(deadline);
  const kms = openKms(deadline);
  const now = () => timestampOf(clock);
  const getBatched = batched((keys: Key[]) => getItems(table, keys));
  return {
    pendingCommands: () => listPendingCommands(table, now()),
    work: async ({ domain, cvmId }) => await openWork(kms, await listCommands(table, domain, cvmId, now())),
    report: async ({ domain, cvmId }, reports) => {
      const { results } = await recordReports(table, executions, { domain, cvmId, reports, now: now(), by: gateway });
      return results;
    },
    registration: (cvm) => readRegistration(table, cvm, getBatched),
    setCommandStream: (cvm, { stream, instead }) =>
      setCommandStream(table, cvm, { commandStream: { gateway, stream }, instead, now: now() }),
    clearCommandStream: (cvm, { stream, lastSeenAt }) =>
      clearCommandStream(table, cvm, { stream, lastSeenAt: new Date(lastSeenAt).toISOString() }),
    recordForwarder: (cvm, isThere) => recordForwarder(table, cvm, { gateway, isThere }),
    takeName: (name) => takeName(table, gateway, name, now()),
    renewLease: (lease) => renewLease(table, gateway, now(), lease),
    isAlive: (other) => isAlive(table, other, now(), getBatched),
    messages: () => readMessagesToGateway(table, gateway),
    sendMessage: (to, message) => sendToGateway(table, to, message, now()),
    removeMessage: (to, id) => removeMessageToGateway(table, to, id),
    recordRefusal: (cvm, refusal) => recordRefusal(table, { ...cvm, ...refusal, now: now() }),
    agentRecord: (cvm) => readAgentRecord(table, cvm, getBatched),
    bindAgent: (cvm, binding) => bindAgent(table, cvm, binding),
    keepAttestationOfRun: (cvm, run) => keepAttestationOfRun(table, cvm, run),
    recordAgentProcess: (cvm, process) => recordAgentProcess(table, cvm, { ...process, now: now() }),
  };
}
