import * as v from 'valibot';
import { membership } from '../../domains/membership.ts';

/** Who a user chose to be on the sign-in page. */
export const identity = v.object({
  sub: v.pipe(v.string(), v.nonEmpty('Expected a user name.')),
  group: v.pipe(
    v.optional(v.union([v.string(), v.array(v.string())]), []),
    v.transform((one) => [one].flat()),
    v.array(membership),
  ),
});
export type Identity = v.InferOutput<typeof identity>;
