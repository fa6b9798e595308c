/** The one table's key schema and the attribute by which items expire, for CDK and for the one-machine stack alike. */
export const tableDefinition = {
  partitionKey: 'pk',
  sortKey: 'sk',
  /** Seconds since 1970, as a number. DynamoDB deletes an expired item within days, so reads check the time themselves. */
  timeToLive: 'ttl',
} as const;
