/**
 * The longest time that a read may take, retries included. Entries and nodes that a fold replaced are kept for longer, so that
 * everything that a head refers to is still there.
 */
export const maxReadInMilliseconds = 2_000;

/** The most by which the clocks of two machines are taken to differ. */
export const clocksDifferByMilliseconds = 2_000;

/** How long a fold stays in the stages `seen` and `cleared`, so that what it replaced outlives the reads that may need it. */
export const stayInMilliseconds = maxReadInMilliseconds + clocksDifferByMilliseconds;

/**
 * How long to wait after a read until every other read sees the whole of what it saw a part of. DynamoDB shows a transaction item by
 * item, mostly within milliseconds; it documents no limit.
 */
export const transactionShowsInMilliseconds = 2_000;
