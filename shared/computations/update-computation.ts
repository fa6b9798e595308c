import type * as v from 'valibot';
import { type Caller, type Permitted, type Relations, requireActionToChange } from '../http/caller.ts';
import { preconditionFailed } from '../runtime/errors.ts';
import { administrativeEvent } from '../journal/journal.ts';
import { type UserRequest, type Committed, makeChange } from '../table/transaction.ts';
import type { Table } from '../table/table.ts';
import type { AgentConfig, StoredAgentConfig } from '../rows/agent-config.ts';
import { digestOfKey, type SealKey } from '../rows/sealed-key.ts';
import { readToChange, replaceFields } from '../rows/change-computation.ts';
import {
  type ComputationFields,
  type computationReplacement,
  fieldsOf,
  refuseLowerApproval,
  refuseUnfitReview,
  type StoredComputation,
} from '../rows/computation.ts';
import { etagsFor } from './describe-computation.ts';
import { changedParts, type Definition, type GivenDefinition, readDefinition, replaceDefinition } from '../rows/definition.ts';

interface Replacement extends GivenDefinition {
  fields: ComputationFields;
  permitted: Permitted;
}

interface Updated {
  row: StoredComputation;
  definition: Definition;
  permitted: Permitted;
}

/** Decides, from the present state of a computation, what a change makes of it. Throws to refuse the change. */
export type DecideUpdate = (current: StoredComputation, definition: Definition) => Replacement;

interface UpdateRequest extends UserRequest {
  id: string;
  seal: SealKey;
  decide: DecideUpdate;
}

/**
 * Replaces the fields, configuration, policy, consumers and providers of a computation. Three round trips. A request that changes
 * nothing writes nothing.
 * @throws ServiceError `not_found`, and any error that `decide` throws
 */
export async function updateComputation(table: Table, request: UpdateRequest): Promise<Committed<Updated>> {
  const { domain, id, by, now, decide, answerKeeper } = request;
  return await makeChange(table, answerKeeper, async (table, transaction) => {
    const computation = await readToChange(table, domain, id);
    const definition = await readDefinition(table, id); // read after the row, so that the row's version guards it
    const { fields, permitted, ...given } = decide(computation.row, definition);
    const seal = (plain: string) => request.seal({ owner: { computation: id }, plain });
    const agent_config = await configToStore(given.agent_config, definition.agent_config, seal);
    const after = { ...definition, ...given, agent_config };
    const [first, ...others] = changeEvents(computation.row, fields, changedParts(definition, after), by);
    if (!first) return { row: computation.row, definition, permitted };

    const row = await replaceFields(table, transaction, computation, fields, { events: [first, ...others], now });
    replaceDefinition(transaction, { id, by, now }, definition, after);
    return { row, definition: after, permitted };
  });
}

/**
 * Returns the agent's configuration of a computation with its private key sealed for storage. A key that has not changed keeps
 * its seal.
 */
async function configToStore(
  given: AgentConfig,
  { server_key: stored }: StoredAgentConfig,
  seal: (plain: string) => ReturnType<SealKey>,
): Promise<StoredAgentConfig> {
  const isSame = stored !== '' && stored.digest === digestOfKey(given.server_key);
  return { ...given, server_key: isSame ? stored : await seal(given.server_key) };
}

/**
 * Returns the events that record a change of a computation. They name the changed fields, never the values: a value may be a
 * private key.
 */
function changeEvents(current: StoredComputation, { owner, ...fields }: ComputationFields, parts: string[], by: string) {
  const names = Object.keys(fields) as (keyof typeof fields)[];
  const changed = [...names.filter((name) => current[name] !== fields[name]), ...parts];
  return [
    ...(changed.length > 0 ? [administrativeEvent('updated', by, { fields: changed })] : []),
    ...(current.owner === owner ? [] : [administrativeEvent('owner_changed', by, { from: current.owner, to: owner })]),
  ];
}

interface UpdateByCaller {
  body: v.InferOutput<typeof computationReplacement>;
  caller: Caller;
  permit: (relations: Relations) => Permitted;
  ifMatch?: ((...etags: string[]) => boolean) | undefined;
}

/**
 * Returns a function that decides what becomes of a computation on the request of a caller. The returned function throws
 * ServiceError `forbidden`; `invalid_request` if the approval is lowered, or a review does not
 * fit the consumers; `precondition_failed`.
 */
export function decideUpdate({ body, caller, permit, ifMatch }: UpdateByCaller): DecideUpdate {
  return (current, definition) => {
    const permitted = permit({ owner: current.owner });
    const owner = body.owner ?? current.owner;
    if (owner !== current.owner) requireActionToChange(caller, 'administer'); // defence
    const approval = body.approval ?? current.approval;
    refuseLowerApproval(current.approval, approval); // defence
    const consumers = body.consumers ?? definition.consumers;
    const result_review = body.result_review === undefined ? definition.result_review : body.result_review;
    refuseUnfitReview(result_review, { owner, consumers });
    if (ifMatch?.(...etagsFor(caller, current, definition)) === false) throw preconditionFailed(); // defence
    return {
      fields: fieldsOf(body, { owner, approval, log_access: body.log_access ?? current.log_access }),
      agent_config: body.agent_config,
      attestation_policy: body.attestation_policy === undefined ? definition.attestation_policy : body.attestation_policy,
      result_review,
      consumers,
      providers: body.providers ?? definition.providers,
      permitted,
    };
  };
}
