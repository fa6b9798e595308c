import * as v from 'valibot';
import type { Contract } from '../http/contract.ts';

export const healthContract = {
  status: 200,
  response: v.object({ status: v.literal('ok'), stage: v.string(), version: v.string() }),
} as const satisfies Contract;

export const openapiContract = {
  status: 200,
  response: v.looseObject({ openapi: v.literal('3.1.0') }),
} as const satisfies Contract;
