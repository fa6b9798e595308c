import * as v from 'valibot';
import { membership } from '../../shared/domains/membership.ts';
import { isNameFor, localUser, reservedName } from './local-user.ts';

/** Who a user chose to be on the sign-in page. */
export const identity = v.pipe(
  v.object({
    sub: localUser,
    group: v.pipe(
      v.optional(v.union([v.string(), v.array(v.string())]), []),
      v.transform((one) => [one].flat()),
      v.array(membership),
    ),
  }),
  v.check(({ sub, group }) => isNameFor(sub, group), reservedName),
);
export type Identity = v.InferOutput<typeof identity>;
