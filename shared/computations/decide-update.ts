import type * as v from 'valibot';
import { requireActionToChange, type Caller, type Permitted, type Relations } from '../access/caller.ts';
import { preconditionFailed } from '../errors.ts';
import { refuseLowerApproval } from './approval-level.ts';
import { etagsFor } from './computation-etag.ts';
import { fieldsOf, type computationReplacement } from './computation.ts';
import type { DecideUpdate } from './update-computation.ts';

interface UpdateByCaller {
  body: v.InferOutput<typeof computationReplacement>;
  caller: Caller;
  permit: (relations: Relations) => Permitted;
  /** Compares the entity tags of `If-Match`, if it was sent. */
  ifMatch?: ((...etags: string[]) => boolean) | undefined;
}

/**
 * Decides what a caller's replacement of a computation writes. The returned function throws ServiceError: `forbidden` if the caller
 * may not change the computation, or its owner; `invalid_request` if the approval is lowered; `precondition_failed`.
 */
export function decideUpdate({ body, caller, permit, ifMatch }: UpdateByCaller): DecideUpdate {
  return (current, definition) => {
    const permitted = permit({ owner: current.owner });
    const owner = body.owner ?? current.owner;
    if (owner !== current.owner) requireActionToChange(caller, 'administer');
    const approval = body.approval ?? current.approval;
    refuseLowerApproval(current.approval, approval);
    if (ifMatch?.(...etagsFor(caller, current, definition)) === false) throw preconditionFailed();
    return {
      fields: fieldsOf(body, { owner, approval }),
      agent_config: body.agent_config,
      consumers: body.consumers,
      permitted,
    };
  };
}
