import type { AttestationPolicy } from 'computation-management-formats/attestation';
import { numberedId } from 'computation-management-formats/identifiers';
import type * as v from 'valibot';
import { type Caller, requireAction } from '../http/caller.ts';
import { nextNumber } from '../table/writes.ts';
import { type AnsweredRequest, commitChange, type Committed, Transaction } from '../table/transaction.ts';
import { lists } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import { type AgentConfig, isDefaultAgentConfig, type SealKey } from '../rows/agent-config.ts';
import { addComputation } from '../rows/change-computation.ts';
import { type ComputationFields, type computationInput, fieldsOf, type StoredComputation } from '../rows/computation.ts';
import { type Definition, putConfig, replaceConsumers, replaceProviders } from '../rows/definition.ts';

export interface NewComputation extends AnsweredRequest {
  domain: string;
  fields: ComputationFields;
  agent_config: AgentConfig;
  seal: SealKey;
  attestation_policy: AttestationPolicy | null;
  consumers: string[];
  providers: string[];
  by: string;
  now: string;
}

interface Created {
  row: StoredComputation;
  definition: Definition;
}

/** Two round trips. */
export async function createComputation(table: Table, given: NewComputation): Promise<Committed<Created>> {
  const { domain, fields, seal, attestation_policy, consumers, providers, by, now } = given;
  const id = numberedId(await nextNumber(table, lists.computations(domain)));
  const agent_config = {
    ...given.agent_config,
    server_key: await seal({ computationId: id, plain: given.agent_config.server_key }),
  };
  const row = {
    id,
    ...fields,
    status: 'created' as const,
    created_by: by,
    created_at: now,
    updated_at: now,
    run: null,
    version: 1,
    dataset_count: 0,
    run_counts: {},
  };
  const transaction = new Transaction();
  const details = { name: fields.name, owner: fields.owner };
  await addComputation(table, transaction, { domain, row }, { originator: by, details, now });
  if (!isDefaultAgentConfig(agent_config) || attestation_policy) putConfig(transaction, id, { agent_config, attestation_policy });
  replaceConsumers(transaction, { domain, id }, { before: [], after: consumers });
  replaceProviders(transaction, id, { before: [], after: providers });
  const definition = { agent_config, attestation_policy, consumers, providers, algorithm: undefined, datasets: [] };
  return await commitChange(table, transaction, { row, definition }, given.answerKeeper);
}

interface CreationByCaller {
  body: v.InferOutput<typeof computationInput>;
  caller: Caller;
}

/** @throws ServiceError `forbidden` if the caller may not create a computation for this owner */
export function decideCreation({
  body,
  caller,
}: CreationByCaller): Pick<NewComputation, 'fields' | 'agent_config' | 'attestation_policy' | 'consumers' | 'providers' | 'by'> {
  const owner = body.owner ?? caller.id;
  if (owner !== caller.id) requireAction(caller, 'administer');
  return {
    fields: fieldsOf(body, { owner, approval: body.approval, log_access: body.log_access }),
    agent_config: body.agent_config,
    attestation_policy: body.attestation_policy,
    consumers: body.consumers,
    providers: body.providers,
    by: caller.id,
  };
}
