import { createPublicKey } from 'node:crypto';
import * as v from 'valibot';

const hash = v.pipe(
  v.array(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(255))),
  v.length(32, 'a hash is not 32 bytes long'),
);
const userKey = v.pipe(v.string(), v.check(isPublicKey, 'a user_key is not a public key in DER SubjectPublicKeyInfo'));
const filename = v.pipe(v.string(), v.regex(/^(?!\.{1,2}$)[^/\0]+$/, 'a filename is not a plain name'));

const acceptable = v.object({
  id: v.pipe(v.string(), v.minLength(1, 'it has no id')),
  datasets: v.pipe(
    v.array(v.object({ hash, user_key: userKey, filename })),
    v.check(
      (datasets) => new Set(datasets.map((dataset) => dataset.filename)).size === datasets.length,
      'two datasets share a filename',
    ),
  ),
  algorithm: v.object({ hash, user_key: userKey }, 'it has no algorithm'),
  result_consumers: v.pipe(v.array(v.object({ user_key: userKey })), v.minLength(1, 'it has no result consumer')),
});

/** Says what in a manifest would crash a real agent or lock its users out. Returns undefined for a good manifest. */
export function manifestFlaw(manifest: unknown): string | undefined {
  const { issues } = v.safeParse(acceptable, manifest);
  if (!issues) return undefined;
  const [issue] = issues;
  const path = v.getDotPath(issue);
  return path === null ? issue.message : `${path}: ${issue.message}`;
}

export function datasetsIn(manifest: unknown): number {
  return v.parse(v.object({ datasets: v.array(v.unknown()) }), manifest).datasets.length;
}

function isPublicKey(base64: string): boolean {
  try {
    const key = createPublicKey({ key: Buffer.from(base64, 'base64'), format: 'der', type: 'spki' });
    return ['rsa', 'ec', 'ed25519'].includes(key.asymmetricKeyType ?? '');
  } catch {
    return false;
  }
}
