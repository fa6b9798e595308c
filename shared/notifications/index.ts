/**
 * The interface of `shared/notifications`, which tells users by mail that something waits for them. Code outside of this folder imports only these
 * names.
 */

export { type Mail, mailerOfStage, headersOf, NotSentError, RefusedError, withoutAddresses } from './mailer.ts';
export { type News, withNews } from './news.ts';
export { sendMails } from './send-mails.ts';
export { endMail } from './wishes.ts';
