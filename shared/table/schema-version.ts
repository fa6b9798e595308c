/**
 * The schema version in which each kind of item is written, by the kind's name in parseStored. It is stored in the attribute
 * `schema`. Items without it have version 1. Readers accept all versions up to this one. So to change a schema, first deploy
 * readers that know both versions; a migration then rewrites the items (shared/migrations/).
 */
const schemaVersions = {
  computation: 1,
  run: 1,
  asset: 1,
  claim: 1,
  'registered CVM': 1,
  'snapshot of a run': 1,
  'journal head': 1,
  'kept answer': 1,
  evidence: 1,
} as const;

/** Returns the attribute to write with a whole item of this kind. Updates of single attributes do not change the version. */
export function schemaVersion(kind: keyof typeof schemaVersions): { schema: number } {
  return { schema: schemaVersions[kind] };
}

/** @throws Error if a newer version of the service wrote the item, so that its schema is unknown */
export function assertKnownSchema(stored: unknown, kind: string): void {
  const schema = typeof stored === 'object' && stored !== null && 'schema' in stored ? stored.schema : 1;
  const newest = kind in schemaVersions ? schemaVersions[kind as keyof typeof schemaVersions] : 1;
  if (typeof schema === 'number' && Number.isInteger(schema) && schema >= 1 && schema <= newest) return;
  throw new Error(
    `A stored ${kind} has schema ${String(schema)}, and this version of the service knows ${newest} at most: ` +
      'it was written by a newer version.',
  );
}
