import type * as v from 'valibot';
import { requireAction, type Caller } from '../access/caller.ts';
import { fieldsOf, type computationInput } from './computation.ts';
import type { NewComputation } from './create-computation.ts';

interface CreationByCaller {
  body: v.InferOutput<typeof computationInput>;
  caller: Caller;
}

/**
 * Decides what a new computation of a caller contains. Default owner: the caller.
 * @throws ServiceError `forbidden` if the caller may not create a computation for this owner
 */
export function decideCreation({
  body,
  caller,
}: CreationByCaller): Pick<NewComputation, 'fields' | 'agent_config' | 'consumers' | 'by'> {
  const owner = body.owner ?? caller.id;
  if (owner !== caller.id) requireAction(caller, 'administer');
  return {
    fields: fieldsOf(body, { owner, approval: body.approval }),
    agent_config: body.agent_config,
    consumers: body.consumers,
    by: caller.id,
  };
}
