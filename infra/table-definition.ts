/** The one table's key schema, for CDK and for the one-machine stack alike. */
export const tableDefinition = { partitionKey: 'pk', sortKey: 'sk' } as const;
