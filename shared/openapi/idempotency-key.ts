import { idempotencyKeyHeader, replayedHeader } from '../http/idempotency-key.ts';

/** The request header of every endpoint that takes an Idempotency-Key. */
export const keyParameter = {
  name: idempotencyKeyHeader,
  in: 'header',
  required: false,
  description:
    'A key of your choice, for example a UUID. If the same request is sent again with the same key within 24 hours, the change is ' +
    'not made again, and the first response is given again. Another request with the same key is refused with 422. Error ' +
    'responses are not kept.',
  schema: {
    type: 'string',
    minLength: 1,
    maxLength: 255,
    pattern: '^[ -~]*$',
    examples: ['8e03978e-40d5-43e8-bc93-6894a57f9324'],
  },
};

/** The response header of every endpoint that takes an Idempotency-Key. */
export const replayedHeaderObject = {
  [replayedHeader]: {
    description: 'Present if this is the kept response to an earlier request with the same `Idempotency-Key`.',
    required: false,
    schema: { type: 'string', enum: ['true'] },
  },
};
