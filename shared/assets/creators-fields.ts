import { ServiceError } from '../errors.ts';
import type { StoredAsset } from './asset.ts';

/** The attributes of a row that only the creator of the asset may change, and the fields of a request that change them. */
const creatorsFields = {
  content_access: 'content_access',
  user_key: 'user_key',
  checksum: 'checksum',
  content_checksum: 'asset',
} as const;

/**
 * Refuses a change of fields that belong to the creator of the asset. Repeating their values is allowed.
 * @throws ServiceError `forbidden` that names these fields
 */
export function requireCreatorToChange(
  by: string,
  current: StoredAsset,
  next: Pick<StoredAsset, keyof typeof creatorsFields>,
): void {
  if (by === current.created_by) return;
  const attributes = Object.keys(creatorsFields) as (keyof typeof creatorsFields)[];
  const fields = attributes.filter((name) => next[name] !== current[name]).map((name) => creatorsFields[name]);
  if (fields.length === 0) return;
  const errors = fields.map((field) => ({ pointer: `/asset/${field}`, detail: 'Only the creator of the asset may change it.' }));
  throw new ServiceError('forbidden', `Only the creator of the asset may change ${fields.join(', ')}.`, { errors });
}
