import type { AttestationPolicy } from 'computation-management-formats/attestation';
import { canonicalJson } from 'computation-management-formats/digests';
import type * as v from 'valibot';
import { type Caller, type Permitted, type Relations, requireActionToChange } from '../http/caller.ts';
import { preconditionFailed } from '../runtime/errors.ts';
import type { NewEvent } from '../journal/event.ts';
import { type AnsweredRequest, commitChange, type Committed, Transaction, withFreshReads } from '../table/transaction.ts';
import type { Table } from '../table/table.ts';
import {
  type AgentConfig,
  changedConfigFields,
  digestOfKey,
  type SealKey,
  type StoredAgentConfig,
} from '../rows/agent-config.ts';
import { readToChange, replaceFields } from '../rows/change-computation.ts';
import {
  type ComputationFields,
  type computationReplacement,
  fieldsOf,
  refuseLowerApproval,
  type StoredComputation,
} from '../rows/computation.ts';
import { etagsFor } from './describe-computation.ts';
import {
  type Definition,
  readDefinition,
  isSameList,
  putConfig,
  replaceConsumers,
  replaceProviders,
} from '../rows/definition.ts';

interface Replacement {
  fields: ComputationFields;
  agent_config: AgentConfig;
  attestation_policy: AttestationPolicy | null;
  consumers: string[];
  providers: string[];
  permitted: Permitted;
}

interface Updated {
  row: StoredComputation;
  definition: Definition;
  permitted: Permitted;
}

export type DecideUpdate = (current: StoredComputation, definition: Definition) => Replacement;

interface UpdateRequest extends AnsweredRequest {
  domain: string;
  id: string;
  by: string;
  now: string;
  seal: SealKey;
  decide: DecideUpdate;
}

/**
 * Three round trips. A request that changes nothing writes nothing.
 * @throws ServiceError `not_found`, and any error that `decide` throws
 */
export async function updateComputation(
  table: Table,
  { domain, id, by, now, seal, decide, answerKeeper }: UpdateRequest,
): Promise<Committed<Updated>> {
  return await withFreshReads(table, async (table) => {
    const computation = await readToChange(table, domain, id);
    const definition = await readDefinition(table, id); // read after the row, so that the row's version guards it
    const {
      fields,
      agent_config: given,
      attestation_policy,
      consumers,
      providers,
      permitted,
    } = decide(computation.row, definition);
    const agent_config = await configToStore(given, definition.agent_config, (plain) => seal({ computationId: id, plain }));
    const changedConfig = changedConfigFields(definition.agent_config, agent_config);
    const isSamePolicy =
      canonicalJson({ attestation_policy }) === canonicalJson({ attestation_policy: definition.attestation_policy });
    const changedLists = [
      ...(isSameList(definition.consumers, consumers) ? [] : ['consumers']),
      ...(isSameList(definition.providers, providers) ? [] : ['providers']),
    ];
    const changedParts = [
      ...changedConfig.map((name) => `agent_config.${name}`),
      ...(isSamePolicy ? [] : ['attestation_policy']),
      ...changedLists,
    ];
    const transaction = new Transaction();
    const [first, ...others] = changeEvents(computation.row, fields, changedParts, by);
    if (!first) return await commitChange(table, transaction, { row: computation.row, definition, permitted }, answerKeeper);

    const row = await replaceFields(table, transaction, computation, fields, { events: [first, ...others], now });
    if (changedConfig.length > 0 || !isSamePolicy) putConfig(transaction, id, { agent_config, attestation_policy });
    replaceConsumers(transaction, { domain, id }, { before: definition.consumers, after: consumers });
    replaceProviders(transaction, id, { before: definition.providers, after: providers });
    return await commitChange(
      table,
      transaction,
      { row, definition: { ...definition, agent_config, attestation_policy, consumers, providers }, permitted },
      answerKeeper,
    );
  });
}

async function configToStore(
  given: AgentConfig,
  { server_key: stored }: StoredAgentConfig,
  seal: (plain: string) => ReturnType<SealKey>,
): Promise<StoredAgentConfig> {
  const isSame = stored !== '' && stored.digest === digestOfKey(given.server_key);
  return { ...given, server_key: isSame ? stored : await seal(given.server_key) };
}

/** Names of fields, never their values: one may be a private key. */
function changeEvents(
  current: StoredComputation,
  { owner, ...fields }: ComputationFields,
  changedParts: string[],
  by: string,
): NewEvent[] {
  const names = Object.keys(fields) as (keyof typeof fields)[];
  const changed = [...names.filter((name) => current[name] !== fields[name]), ...changedParts];
  const events: NewEvent[] = [];
  const event = { status: 'success', originator: by, lifecycle: false } as const;
  if (changed.length > 0) events.push({ ...event, event_type: 'updated', details: { fields: changed } });
  if (current.owner !== owner) {
    events.push({ ...event, event_type: 'owner_changed', details: { from: current.owner, to: owner } });
  }
  return events;
}

interface UpdateByCaller {
  body: v.InferOutput<typeof computationReplacement>;
  caller: Caller;
  permit: (relations: Relations) => Permitted;
  ifMatch?: ((...etags: string[]) => boolean) | undefined;
}

/** The returned function throws ServiceError `forbidden`; `invalid_request` if the approval is lowered; `precondition_failed`. */
export function decideUpdate({ body, caller, permit, ifMatch }: UpdateByCaller): DecideUpdate {
  return (current, definition) => {
    const permitted = permit({ owner: current.owner });
    const owner = body.owner ?? current.owner;
    if (owner !== current.owner) requireActionToChange(caller, 'administer');
    const approval = body.approval ?? current.approval;
    refuseLowerApproval(current.approval, approval);
    if (ifMatch?.(...etagsFor(caller, current, definition)) === false) throw preconditionFailed();
    return {
      fields: fieldsOf(body, { owner, approval, log_access: body.log_access ?? current.log_access }),
      agent_config: body.agent_config,
      attestation_policy: body.attestation_policy === undefined ? definition.attestation_policy : body.attestation_policy,
      consumers: body.consumers ?? definition.consumers,
      providers: body.providers ?? definition.providers,
      permitted,
    };
  };
}
