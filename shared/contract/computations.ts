import * as v from 'valibot';
import {
  computationInput,
  computationReplacement,
  computationRow,
  computationSchema,
  computationStatuses,
} from '../computations/computation.ts';
import type { Contract } from '../http/contract.ts';
import { pageEnvelope, paging } from '../text.ts';

export const createComputationContract = {
  body: computationInput,
  status: 201,
  response: computationSchema,
  headers: { Location: "The computation's path.", 'HX-Location': '`/computations/{id}`, for front ends that follow it.' },
  errors: ['unsupported_media_type', 'too_large'],
} as const satisfies Contract;

export const listComputationsContract = {
  query: v.strictObject({
    ...paging,
    status: v.optional(v.pipe(v.picklist(computationStatuses), v.description('Only computations of this status.'))),
  }),
  status: 200,
  response: v.object({ computations: v.array(computationRow), ...pageEnvelope }),
} as const satisfies Contract;

export const getComputationContract = {
  query: v.strictObject({
    peek: v.optional(v.pipe(v.picklist(['true', 'false']), v.description('`true` answers with the row alone.'))),
  }),
  status: 200,
  response: v.union([computationSchema, computationRow]),
  errors: ['not_found'],
} as const satisfies Contract;

export const updateComputationContract = {
  body: computationReplacement,
  status: 200,
  response: computationSchema,
  errors: ['not_found', 'unsupported_media_type', 'too_large'],
  description: 'A full replacement: a field left out goes back to its default; `owner` left out stays.',
} as const satisfies Contract;

export const deleteComputationContract = {
  status: 204,
  errors: ['not_found', 'conflict'],
  description: 'Refused while a run is active. Events, runs, keys and links go with it.',
} as const satisfies Contract;
