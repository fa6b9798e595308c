import * as v from 'valibot';

const shared = {
  apiUrl: v.string(),
  /** The issuer of the canary's tokens. For a password, a user pool, such as `https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_abc`. */
  issuer: v.string(),
  clientId: v.string(),
  /** The name or ARN of the secret in Secrets Manager whose text is the password of the canary's user, or the secret of its client. */
  secretId: v.string(),
};

/** The settings of the canary, which the variable `CANARY` contains as JSON. */
export const canarySettings = v.variant('signIn', [
  v.object({ signIn: v.literal('password'), ...shared, user: v.string() }),
  v.object({
    signIn: v.literal('client credentials'),
    ...shared,
    scope: v.optional(v.string()),
    /** Additional parameters of the canary's request for a token, such as `audience`. */
    parameters: v.optional(v.record(v.string(), v.string())),
  }),
]);

export type CanarySettings = v.InferOutput<typeof canarySettings>;

/** The name of the domain in which the canary works. Nobody else uses the domain. */
export const canaryDomain = 'canary';
export const canaryUser = 'canary';
