/** Of the stage's own user pool. */
export const accessTokensLiveInSeconds = 3_600;

/** How far AWS lets a table be restored. Deleted content stays as long, so that a restored row finds its object. */
export const recoverableInDays = 35;

/** Of events and messages that could not be delivered. SQS keeps none longer. */
export const undeliveredStaysInDays = 14;
