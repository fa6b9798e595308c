import type * as v from 'valibot';
import type { ErrorCode } from '../errors.ts';

/** What goes into an endpoint and what comes out: parsed by the handler, published by the OpenAPI document. */
export interface Contract {
  query?: v.GenericSchema;
  body?: v.GenericSchema;
  /** The largest body in bytes; 256 KiB unless told (docs/contract.md, section 7). */
  bodyLimit?: number;
  status: 200 | 201 | 204;
  /** Left out: no content. */
  response?: v.GenericSchema;
  /** Response headers beyond those that every response has, with what they say. */
  headers?: Record<string, string>;
  /** Errors beyond those that every endpoint can answer. */
  errors?: readonly ErrorCode[];
  description?: string;
}
