import { idempotencyKeyHeader, replayedHeader } from '../http/idempotency-key.ts';

/** The request header of every endpoint that takes an Idempotency-Key. */
export const keyParameter = {
  name: idempotencyKeyHeader,
  in: 'header',
  required: false,
  description:
    'A key of your choice, for example a UUID. If you repeat the request with the same key within 24 hours, the service returns the ' +
    'first response and does not make the change again. A different request with the same key gets 422. Error responses are not stored.',
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
    description: 'Present if this is the stored response to an earlier request with the same `Idempotency-Key`.',
    required: false,
    schema: { type: 'string', enum: ['true'] },
  },
};
