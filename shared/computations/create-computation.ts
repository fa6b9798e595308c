import { numberedId } from 'computation-management-formats/identifiers';
import type * as v from 'valibot';
import { type Caller, requireAction } from '../http/caller.ts';
import { nextNumber } from '../table/writes.ts';
import { type UserRequest, commitChange, Transaction } from '../table/transaction.ts';
import { lists } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import type { SealKey } from '../rows/sealed-key.ts';
import { addComputation } from '../rows/change-computation.ts';
import { type ComputationFields, type computationInput, fieldsOf, refuseUnfitReview } from '../rows/computation.ts';
import { emptyDefinition, type GivenDefinition, replaceDefinition } from '../rows/definition.ts';

export interface NewComputation extends UserRequest, GivenDefinition {
  fields: ComputationFields;
  seal: SealKey;
}

/**
 * Creates a computation with its configuration, policy, consumers and providers. Two round trips, and a call of KMS if the
 * configuration has a private key.
 */
export async function createComputation(table: Table, request: NewComputation) {
  const { domain, fields, agent_config, attestation_policy, result_review, consumers, providers, seal, by, now, answerKeeper } =
    request;
  const id = numberedId(await nextNumber(table, lists.computations(domain)));
  const server_key = await seal({ owner: { computation: id }, plain: agent_config.server_key });
  const given = { agent_config: { ...agent_config, server_key }, attestation_policy, result_review, consumers, providers };
  const definition = { ...emptyDefinition, ...given };
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
    refusal_count: 0,
  };
  const transaction = new Transaction();
  const details = { name: fields.name, owner: fields.owner };
  await addComputation(table, transaction, { domain, row }, { originator: by, details, now });
  replaceDefinition(transaction, { id, by, now }, emptyDefinition, definition);
  return await commitChange(table, transaction, { row, definition }, answerKeeper);
}

/**
 * Returns the parts of a new computation from the body of the request that creates it. The owner is the caller, unless the body
 * names another user.
 * @throws ServiceError `forbidden` if the caller may not create a computation for this owner;
 *   `invalid_request` for a review that does not fit the consumers
 */
export function decideCreation(body: v.InferOutput<typeof computationInput>, caller: Caller) {
  const { agent_config, approval, attestation_policy, result_review, consumers, log_access, owner = caller.id, providers } = body;
  if (owner !== caller.id) requireAction(caller, 'administer');
  refuseUnfitReview(result_review, { owner, consumers });
  return {
    fields: fieldsOf(body, { owner, approval, log_access }),
    agent_config,
    attestation_policy,
    result_review,
    consumers,
    providers,
    by: caller.id,
  };
}
