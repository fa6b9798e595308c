/**
 * The version of the shape that each kind of item is written in, by the name that parseStored gives the kind. An item carries it
 * as `schema`. Items without one have version 1. A reader takes every version up to this one, so a new shape begins with readers
 * that know both; a migration then rewrites the items (shared/migrations/).
 */
const schemaVersions = {
  computation: 1,
  run: 1,
  asset: 1,
  claim: 1,
  'snapshot of a run': 1,
  'journal head': 1,
} as const;

/** What a whole item of this kind is written with. An update of single attributes leaves the item's version as it is. */
export function schemaVersion(kind: keyof typeof schemaVersions): { schema: number } {
  return { schema: schemaVersions[kind] };
}

/** @throws Error if this code cannot know the shape of the item, since a newer version of the service wrote it */
export function assertKnownSchema(stored: unknown, kind: string): void {
  const schema = typeof stored === 'object' && stored !== null && 'schema' in stored ? stored.schema : 1;
  const newest = kind in schemaVersions ? schemaVersions[kind as keyof typeof schemaVersions] : 1;
  if (typeof schema === 'number' && Number.isInteger(schema) && schema >= 1 && schema <= newest) return;
  throw new Error(
    `A stored ${kind} has schema ${String(schema)}, and this version of the service knows ${newest} at most: ` +
      'it was written by a newer version.',
  );
}
