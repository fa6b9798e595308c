import * as v from 'valibot';

/** The query parameter of every endpoint that waits. It arrives as text. */
export const waitParameter = v.optional(
  v.pipe(
    v.string(),
    v.regex(/^(?:1?[0-9]|20)$/, 'Expected a whole number from 0 to 20.'),
    v.description(
      'The number of seconds to wait if there is nothing to return yet, from 0 to 20. Default 0. The response may come earlier and be empty.',
    ),
    v.metadata({ minimum: 0, maximum: 20, default: 0 }),
    v.transform(Number),
  ),
  '0',
);
