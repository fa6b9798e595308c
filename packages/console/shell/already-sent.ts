/** Why a change cannot be cancelled while it is under way. */
export const alreadySent = 'It has been sent. Wait for the answer.';
