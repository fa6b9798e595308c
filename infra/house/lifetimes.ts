/** How long access tokens of the stage's own user pool are valid. */
export const accessTokensLiveInSeconds = 3_600;

/** How far AWS lets a table be restored. Deleted content stays as long, so that a restored row finds its object. */
export const recoverableInDays = 35;

/** How long events and messages that could not be delivered are kept. SQS keeps none longer. */
export const undeliveredStaysInDays = 14;
