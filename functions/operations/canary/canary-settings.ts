import * as v from 'valibot';

/** The schema of the settings of the canary, which are JSON in the variable `CANARY`. */
export const canarySettings = v.variant('signIn', [
  v.object({
    signIn: v.literal('password'),
    apiUrl: v.string(),
    /** The address of a user pool. */
    issuer: v.string(),
    clientId: v.string(),
    user: v.string(),
    /** The secret whose text is the password. */
    secretId: v.string(),
  }),
  v.object({
    signIn: v.literal('client credentials'),
    apiUrl: v.string(),
    issuer: v.string(),
    clientId: v.string(),
    secretId: v.string(),
    scope: v.optional(v.string()),
    /** More parameters of the request for a token, such as `audience`. */
    parameters: v.optional(v.record(v.string(), v.string())),
  }),
]);

export type CanarySettings = v.InferOutput<typeof canarySettings>;

/** The domain of the canary, which nobody else uses. */
export const canaryDomain = 'canary';
export const canaryUser = 'canary';
