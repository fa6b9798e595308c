/** docs/cost.md counts on 300 ms. Half as much again adds a cent to the price of a million calls. */
export const mostMedianColdStartInMilliseconds = 450;

/** What only AWS shows: the name of each fact, and what the documents say of it. */
export const facts = {
  alarm: { what: 'an alarm arrives at the topic', documented: 'each alarm reaches its targets (deploy.md, alarms)' },
  tokens: { what: 'length of a task token', documented: 'at most 1 KB (ADR 3, which relies on it)' },
  coldStarts: {
    what: 'cold starts',
    documented: `300 ms (cost.md); a median of up to ${mostMedianColdStartInMilliseconds} ms holds`,
  },
  conflicts: { what: 'conflicts between transactions', documented: 'each is retried (ADR 8); ConflictsRetried counts them' },
} as const;
