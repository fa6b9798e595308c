import * as v from 'valibot';

/** How a profile gets its tokens. */
export const credentials = v.variant('kind', [
  v.object({ kind: v.literal('local'), user: v.string(), roles: v.array(v.string()) }),
  v.object({ kind: v.literal('token') }),
  v.object({
    kind: v.literal('issuer'),
    issuer: v.string(),
    client_id: v.string(),
    scope: v.exactOptional(v.string()),
    /** How the user logged in: with a code on another device, or with a browser that came back to this port. */
    device: v.exactOptional(v.boolean()),
    port: v.exactOptional(v.number()),
    refresh_token: v.exactOptional(v.string()),
  }),
  /** A program that signs in as itself. Its secret is in CMS_CLIENT_SECRET and never stored. */
  v.object({
    kind: v.literal('program'),
    issuer: v.string(),
    client_id: v.string(),
    scope: v.exactOptional(v.string()),
  }),
]);
export type Credentials = v.InferOutput<typeof credentials>;

/** Where `cms` works, and as whom. */
export const profileSchema = v.object({
  server: v.string(),
  domain: v.string(),
  user: v.string(),
  /** The computation of commands that name none. */
  computation: v.exactOptional(v.string()),
  credentials,
  access_token: v.string(),
  /** Unix seconds. */
  expires_at: v.number(),
});
export type Profile = v.InferOutput<typeof profileSchema>;
