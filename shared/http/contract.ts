import type * as v from 'valibot';
import type { ConflictReason, ErrorCode } from '../errors.ts';
import type { ConditionalHeader } from './preconditions.ts';

/** The input and output of an endpoint: parsed by the handler, published in the OpenAPI document. */
export interface Contract {
  query?: v.GenericSchema;
  body?: v.GenericSchema;
  /** The largest body in bytes. Default 256 KiB. */
  bodyLimit?: number;
  status: 200 | 201 | 204;
  /** The status of the reply if a PUT created its resource. Each reply of the handler says whether it did. */
  statusIfNew?: 201;
  /** Omit for a response without content. */
  response?: v.GenericSchema;
  /** Set if the response has an ETag. */
  etag?: true;
  /** The conditional header that the endpoint evaluates: If-Match can lead to 412, If-None-Match to 304. */
  condition?: ConditionalHeader;
  /** The resource whose ETags the conditional header contains. Default: the one that the path names. */
  conditionOf?: string;
  /** Descriptions of the response headers that only this endpoint has. */
  headers?: Record<string, string>;
  /** The same for headers that not every success has. */
  optionalHeaders?: Record<string, string>;
  /** Errors beyond those that every endpoint can return. */
  errors?: readonly ErrorCode[];
  /** The reasons of its 409, if it has `conflict` among its errors. */
  reasons?: readonly ConflictReason[];
  description?: string;
}

/** One example of each body that the contract has. Tests check that the examples fit the schemas. */
export type Examples<C extends Contract = Contract> = ([C] extends [{ body: v.GenericSchema }]
  ? { request: unknown }
  : { request?: unknown }) &
  ([C] extends [{ response: v.GenericSchema }] ? { response: unknown } : { response?: unknown });
