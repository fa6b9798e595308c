import type { operations, Schemas } from './api-types.ts';
import type { operationRoutes } from './operation-routes.ts';

/** The name of an operation, as in the OpenAPI document. */
export type Operation = keyof typeof operationRoutes;

/** What every call takes besides the parameters of its operation. */
export interface CallOptions {
  /** The domain. Default: the domain of the client. */
  domainID?: string | undefined;
  /** Ends the call and its retries. The call then rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
}

/**
 * The arguments of an operation in one object: the parameters of its path and its query by their names, and its `body`.
 * Operations that change something take an `idempotencyKey`: by default each call has a key of its own, for its retries.
 */
export type Arguments<O extends Operation> = Simplified<
  Omit<Parameters<O, 'path'>, 'domainID'> &
    Parameters<O, 'query'> &
    Body<O> &
    Header<O, 'Idempotency-Key', { idempotencyKey?: string | undefined }> &
    Header<O, 'If-Match', { ifMatch?: string | undefined }> &
    Header<O, 'If-None-Match', { ifNoneMatch?: string | undefined }> &
    CallOptions
>;

/** The arguments, which may be left out if none is required. */
export type OptionalIfEmpty<Given> = object extends Given ? [given?: Given] : [given: Given];

/** The body of the response: `undefined` for an operation that answers 204. */
export type Data<O extends Operation> = operations[O]['responses'][keyof operations[O]['responses']] extends {
  content: { 'application/json': infer Answer };
}
  ? Answer
  : undefined;

/** The arguments of `getComputation`, whose `peek` decides what it answers. */
export type ComputationArguments<Peek extends PeekValue> = Omit<Arguments<'getComputation'>, 'peek'> & { peek?: Peek };

/** What `getComputation` answers: the computation, or with `peek: 'true'` its row in the list. */
export type ComputationAnswer<Peek extends PeekValue> = Peek extends 'true' ? Schemas['ComputationRow'] : Schemas['Computation'];

export type PeekValue = Arguments<'getComputation'>['peek'];

type Parameters<O extends Operation, Place extends 'path' | 'query'> = OrNothing<NonNullable<operations[O]['parameters'][Place]>>;

type Header<O extends Operation, Name extends string, Given> = Name extends keyof OrNothing<
  NonNullable<operations[O]['parameters']['header']>
>
  ? Given
  : Nothing;

type Body<O extends Operation> = operations[O] extends { requestBody: { content: { 'application/json': infer Given } } }
  ? { body: Given }
  : Nothing;

type Nothing = object;
type OrNothing<Values> = [Values] extends [never] ? Nothing : Values;
/** Optional properties may also be `undefined`. */
type Simplified<Values> = {
  [Name in keyof Values]: object extends Pick<Values, Name> ? Values[Name] | undefined : Values[Name];
};
