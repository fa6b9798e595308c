import type { ContentStore } from '../../../shared/assets/content-store.ts';
import type { AgentConfig } from '../../../shared/computations/agent-config.ts';
import type { ComputationStatus } from '../../../shared/computations/computation.ts';
import type { ParticipantKey } from '../../../shared/keys/participant-key.ts';
import type { Executions } from '../../../shared/runs/executions.ts';
import type { StatisticsEntry } from '../../../shared/computations/statistics.ts';
import type { Table } from '../../../shared/table/table.ts';

/** What tests call of the functions of version 1.0.0 (version-1.0.0.js, made by freeze-version.ts). */

interface Fields {
  name: string;
  description: string;
  owner: string;
  agent_config: AgentConfig;
}

interface Row {
  id: string;
  name: string;
  owner: string;
  status: ComputationStatus;
}

interface PageRequest {
  limit: number;
  offset: number;
  status?: ComputationStatus;
}

interface By {
  domain: string;
  by: string;
  now: string;
  permit: () => unknown;
}

export function createComputation(
  table: Table,
  given: Fields & { domain: string; createdBy: string; now: string },
): Promise<{ id: string }>;
export function updateComputation(
  table: Table,
  domain: string,
  id: string,
  by: string,
  now: string,
  decide: (current: Fields) => Fields,
): Promise<unknown>;
export function deleteComputation(table: Table, domain: string, id: string, permit: () => unknown): Promise<void>;
export function readComputation(table: Table, domain: string, id: string): Promise<Row>;
export function readDefinition(table: Table, id: string): Promise<{ agent_config: AgentConfig }>;
export function listComputations(
  table: Table,
  domain: string,
  request: PageRequest,
): Promise<{ computations: Row[]; total: number }>;
export function readStatistics(table: Table, domain: string, days: number, now: string): Promise<StatisticsEntry[]>;
export function createAsset(
  table: Table,
  store: ContentStore,
  given: {
    domain: string;
    file_name: string;
    asset_type: 'algorithm' | 'dataset';
    description: string;
    mime_type: string;
    user_key: string;
    asset: string;
    createdBy: string;
    now: string;
  },
): Promise<{ id: string }>;
export function linkAsset(table: Table, request: By & { assetId: string; computationId: string }): Promise<void>;
export function uploadKey(table: Table, domain: string, computationId: string, key: ParticipantKey): Promise<void>;
export function startRun(
  table: Table,
  executions: Executions,
  request: By & { computationId: string; cvmId: string },
): Promise<string>;
export function endRun(
  table: Table,
  reference: { domain: string; computation_id: string; run_id: string; cvm_id: string },
  ending: { status: 'completed' | 'failed' | 'cancelled'; reason: string },
  now: string,
): Promise<unknown>;
export function listRuns(table: Table, domain: string, request: PageRequest): Promise<{ runs: { id: string }[]; total: number }>;
