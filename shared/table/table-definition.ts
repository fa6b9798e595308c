/** For CDK and for the one-machine stack. */
export const tableDefinition = {
  partitionKey: 'pk',
  sortKey: 'sk',
  /** Seconds since the Unix epoch. DynamoDB deletes expired items within days, so reads must check the time. */
  timeToLive: 'ttl',
} as const;
