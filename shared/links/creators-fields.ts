import { ForbiddenForNowError } from '../errors.ts';
import type { StoredAsset } from '../assets/asset.ts';

/** The fields of an asset that only its creator may change. `asset` is the content. */
type CreatorsField = 'content_access' | 'use' | 'user_key' | 'checksum' | 'asset';

/**
 * Refuses a change by someone else of what belongs to the creator of an asset.
 * @param changes whether the request changes each of these fields
 * @throws ServiceError `forbidden` that names the fields
 */
export function requireCreatorToChange(by: string, { created_by }: StoredAsset, changes: Record<CreatorsField, boolean>): void {
  if (by === created_by) return;
  const fields = Object.entries(changes).flatMap(([field, isChanged]) => (isChanged ? [field] : []));
  if (fields.length === 0) return;
  const errors = fields.map((field) => ({ pointer: `/asset/${field}`, detail: 'Only the creator of the asset may change it.' }));
  const named = fields.map((field) => `\`${field}\``).join(', ');
  throw new ForbiddenForNowError(`Only the creator of the asset may change ${named}.`, { errors });
}
