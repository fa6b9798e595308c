import { bindAgent, readAgentRecord, recordAgentProcess } from '../../shared/attestation/index.ts';
import { keepProcessOfRun, type Process, recordToken } from '../../shared/rows/agent-tokens.ts';
import { openContentStore } from '../../shared/rows/content-store.ts';
import {
  clearCommandStream,
  readRegistration,
  recordForwarder,
  setCommandStream,
  type CommandStream,
} from '../../shared/rows/command-stream.ts';
import {
  readMessagesToGateway,
  removeMessageToGateway,
  sendToGateway,
  type MessageToGateway,
} from '../../shared/rows/messages-to-gateways.ts';
import type { RunReference } from '../../shared/rows/run.ts';
import { readLogState, storeLines, type StoredLines } from '../../shared/rows/log-lines.ts';
import { Deadline, timestampOf, type Clock } from '../../shared/runtime/deadline.ts';
import { listPendingCommands } from '../../shared/rows/command.ts';
import { openExecutions } from '../../shared/lifecycle/index.ts';
import { isAlive, isOfNewestDeployment, renewLease, takeName } from '../../shared/rows/gateway-lease.ts';
import {
  listCommands,
  openWork,
  readManifestBefore,
  recordRefusal,
  recordReports,
  type Report,
} from '../../shared/cvms/index.ts';
import { batched } from '../../shared/table/row-lists.ts';
import type { Key } from '../../shared/table/keys.ts';
import { openTable, getItems, type Table } from '../../shared/table/table.ts';
import type { CvmIdentity } from '../wire/identity.ts';
import { openKms } from '../../shared/runtime/clients.ts';

/** The record of the agent process in a CVM, as it is stored. */
export type AgentRecord = Awaited<ReturnType<typeof readAgentRecord>>;

/** The result that the service answers for one report of a gateway. */
export type ReportResult = Awaited<ReturnType<typeof recordReports>>['results'][number];

/** The functions of the service that a gateway calls. Endpoints 25 and 26 use the same functions. */
export type GatewayService = ReturnType<typeof openService>;

/**
 * Opens the functions of the service that a gateway calls, with the credentials of the gateway's process.
 * @param gateway the identifier of the gateway
 */
export function openService(clock: Clock, gateway: string) {
  const deadline = () => new Deadline();
  const table = openTable(deadline);
  const executions = openExecutions(deadline);
  const kms = openKms(deadline);
  const store = openContentStore(deadline);
  const now = () => timestampOf(clock);
  const inTable =
    <Given extends unknown[], Result>(operation: (table: Table, ...given: Given) => Result) =>
    (...given: Given) =>
      operation(table, ...given);
  const getBatched = batched((keys: Key[]) => getItems(table, keys));
  return {
    pendingCommands: () => listPendingCommands(table, now()),
    work: async ({ domain, cvmId }: CvmIdentity) => await openWork(kms, await listCommands(table, domain, cvmId, now())),
    report: async ({ domain, cvmId }: CvmIdentity, reports: Report[]): Promise<ReportResult[]> => {
      const { results } = await recordReports(table, executions, { domain, cvmId, reports, now: now(), by: gateway });
      return results;
    },
    registration: (cvm: CvmIdentity) => readRegistration(table, cvm, getBatched),
    setCommandStream: (cvm: CvmIdentity, { stream, instead }: { stream: string; instead: CommandStream | undefined }) =>
      setCommandStream(table, cvm, { commandStream: { gateway, stream }, instead, now: now() }),
    clearCommandStream: (cvm: CvmIdentity, { stream, lastSeenAt }: { stream: string; lastSeenAt: number }) =>
      clearCommandStream(table, cvm, { stream, lastSeenAt: new Date(lastSeenAt).toISOString() }),
    recordForwarder: (cvm: CvmIdentity, isThere: boolean) => recordForwarder(table, cvm, { gateway, isThere }),
    takeName: (name: string) => takeName(table, gateway, name, now()),
    renewLease: (lease: { isOver: boolean }) => renewLease(table, gateway, now(), lease),
    isOfNewestDeployment: (gateway: { deployment: number; startedAt: string }) => isOfNewestDeployment(table, gateway, now()),
    isAlive: (other: string) => isAlive(table, other, now(), getBatched),
    messages: () => readMessagesToGateway(table, gateway),
    sendMessage: (to: string, message: MessageToGateway) => sendToGateway(table, to, message, now()),
    removeMessage: (to: string, id: string) => removeMessageToGateway(table, to, id),
    recordRefusal: (cvm: CvmIdentity, refusal: { reason: string; peer: string; isConflict?: boolean }) =>
      recordRefusal(table, { ...cvm, ...refusal, now: now() }),
    logState: (run: RunReference) => readLogState(table, run),
    storeLines: (run: RunReference, given: StoredLines) =>
      storeLines(table, run, { ...given, part: [gateway, given.part].join() }),
    manifestBefore: inTable(readManifestBefore),
    agentRecord: (cvm: CvmIdentity) => readAgentRecord(table, cvm, getBatched),
    bindAgent: inTable(bindAgent),
    keepProcessOfRun: inTable(keepProcessOfRun),
    recordAgentProcess: inTable(recordAgentProcess),
    recordToken: (process: Process, token: { kind: string; token: Uint8Array }) =>
      recordToken(table, store, process, token, now()),
  };
}
