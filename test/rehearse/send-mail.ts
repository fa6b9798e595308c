import { mailerOfStage, NotSentError } from '../../shared/notifications/index.ts';

/**
 * Sends a mail as a stage does: `node --import aws-redirect.ts send-mail.ts FROM`, with the variables of a function. Prints `sent`, or why
 * SES surely did not send it.
 */
const [from = ''] = process.argv.slice(2);
const url = `https://email.${process.env['AWS_REGION']}.amazonaws.com/v2/email/outbound-emails`;
process.env['MAIL'] = JSON.stringify({ from, page: 'https://example.com', api: 'https://api.example.com', url });
const mail = {
  to: 'reader@example.com',
  subject: '1 task waits for you',
  text: 'Grüße',
  unsubscribeUrl: 'https://api.example.com/unsubscribe/1',
};
try {
  await mailerOfStage()?.send(mail);
  console.log('sent');
} catch (error) {
  if (!(error instanceof NotSentError)) throw error;
  console.log(error.message);
}
