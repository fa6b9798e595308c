import { timestampOf, type Clock } from '../shared/clock.ts';
import { Deadline } from '../shared/deadline.ts';
import {
  bindAgent,
  keepAttestationOfRun,
  readAgentRecord,
  recordAgentProcess,
  type AgentRecord,
} from '../shared/runs/agent-record.ts';
import { openExecutions } from '../shared/runs/executions.ts';
import { listCommands, openWork, type Work } from '../shared/runs/list-commands.ts';
import { listPendingCommands, type PendingCommand } from '../shared/runs/pending-commands.ts';
import type { Command } from '../shared/runs/command.ts';
import type { Report } from '../shared/runs/report.ts';
import { recordReports } from '../shared/runs/record-reports.ts';
import { noteConnected, readRegisteredCertificate } from '../shared/cvms/registered-certificate.ts';
import { openKms } from '../shared/kms.ts';
import { openTable } from '../shared/table/open-table.ts';
import type { CvmIdentity } from './identity/cvm-identity.ts';

export type ReportResult = Awaited<ReturnType<typeof recordReports>>['results'][number];

/** What a gateway asks of the service. The same functions serve endpoints 25 and 26. */
export interface GatewayService {
  /** The commands of all CVMs that none has answered. */
  pendingCommands: () => Promise<PendingCommand[]>;
  work: (cvm: CvmIdentity) => Promise<Work<Command>>;
  report: (cvm: CvmIdentity, reports: Report[]) => Promise<ReportResult[]>;
  /** The fingerprint of the certificate that the CVM is registered with. Undefined if it is not, or without one. */
  registeredCertificate: (cvm: CvmIdentity) => Promise<string | undefined>;
  /** Notes that the CVM is connected. @returns as registeredCertificate */
  noteConnected: (cvm: CvmIdentity) => Promise<string | undefined>;
  agentRecord: (cvm: CvmIdentity) => Promise<AgentRecord>;
  bindAgent: (cvm: CvmIdentity, record: AgentRecord & { run_id: string; computation_id: string }) => Promise<boolean>;
  keepAttestationOfRun: (cvm: CvmIdentity, run: { run_id: string; computation_id: string }) => Promise<void>;
  recordAgentProcess: (
    cvm: CvmIdentity,
    process: { kept: AgentRecord; attestation: Uint8Array; attestation_hash: string },
  ) => Promise<AgentRecord>;
}

/** Opens the service with this process's own credentials. */
export function openService(clock: Clock): GatewayService {
  const deadline = () => new Deadline();
  const table = openTable(deadline);
  const executions = openExecutions(deadline);
  const kms = openKms(deadline);
  const now = () => timestampOf(clock);
  return {
    pendingCommands: () => listPendingCommands(table, now()),
    work: async ({ domain, cvmId }) => await openWork(kms, await listCommands(table, domain, cvmId, now())),
    report: async ({ domain, cvmId }, reports) => {
      const { results } = await recordReports(table, executions, { domain, cvmId, reports, now: now() });
      return results;
    },
    registeredCertificate: (cvm) => readRegisteredCertificate(table, cvm),
    noteConnected: (cvm) => noteConnected(table, cvm, now()),
    agentRecord: (cvm) => readAgentRecord(table, cvm),
    bindAgent: (cvm, record) => bindAgent(table, cvm, record),
    keepAttestationOfRun: (cvm, run) => keepAttestationOfRun(table, cvm, run),
    recordAgentProcess: (cvm, process) => recordAgentProcess(table, cvm, { ...process, now: now() }),
  };
}
