import * as v from 'valibot';
import { environment } from '../runtime/environment.ts';
import { signedPost } from '../runtime/signed-post.ts';

/** A mail to a user. The text is plain. */
export interface Mail {
  to: string;
  subject: string;
  text: string;
  /** The address that takes a POST to unsubscribe (RFC 8058). */
  unsubscribeUrl: string;
}

/** Sends the mail of the service. */
export interface Mailer {
  /**
   * Sends a mail.
   * @throws NotSentError if it surely was not sent; RefusedError if it never will be; any other error if nobody knows
   */
  send: (mail: Mail) => Promise<void>;
  /** The address of the page where users see their tasks. */
  page: string;
  /** The base URL of the API, for links to unsubscribe. */
  api: string;
}

/** Thrown if a mail surely was not sent. */
export class NotSentError extends Error {
  override readonly name: string = 'NotSentError';
}
/** Thrown if the server works, but has refused a mail for good: mostly for its address. */
export class RefusedError extends NotSentError {
  override readonly name = 'RefusedError';
}

/** The settings of mail on AWS: the sender, the addresses of `Mailer`, and the URL of SES that sends. */
const mailSettings = v.object({ from: v.string(), page: v.string(), api: v.string(), url: v.string() });

/** Returns the headers by which a mail can be unsubscribed from, and is known to come from a program. */
export function headersOf({ unsubscribeUrl }: Mail): Record<string, string> {
  return {
    'List-Unsubscribe': `<${unsubscribeUrl}>`,
    'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
    'Auto-Submitted': 'auto-generated',
  };
}

const longestSendInMilliseconds = 10_000;
/** The codes of errors of a connection that was never made. */
const neverConnected = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT']);

/**
 * Returns the mailer of the stage, which calls SES with the role of the function. Undefined if the stage sends no mail. A service
 * on one machine puts its own in its place (`replaceClient`).
 */
export function mailerOfStage(): Mailer | undefined {
  const { MAIL } = environment();
  if (MAIL === '') return undefined;
  const { from, page, api, url } = v.parse(mailSettings, JSON.parse(MAIL));
  const text = (Data: string) => ({ Data, Charset: 'UTF-8' });
  return {
    page,
    api,
    send: async (mail) => {
      const Headers = Object.entries(headersOf(mail)).map(([Name, Value]) => ({ Name, Value }));
      const body = JSON.stringify({
        FromEmailAddress: from,
        Destination: { ToAddresses: [mail.to] },
        Content: { Simple: { Subject: text(mail.subject), Body: { Text: text(mail.text) }, Headers } },
      });
      const headers = { 'content-type': 'application/json' };
      const signal = AbortSignal.timeout(longestSendInMilliseconds);
      const answer = await signedPost({ service: 'ses', url, body, headers, signal }).catch((error: unknown) => {
        const { code } = ((error as Error).cause ?? {}) as NodeJS.ErrnoException;
        throw code !== undefined && neverConnected.has(code) ? new NotSentError('SES was not reached.', { cause: error }) : error;
      });
      if (!answer.isDone) {
        const Failure = /^(MessageRejected|BadRequest)/.test(answer.errorType) ? RefusedError : NotSentError;
        throw new Failure(`SES answered ${answer.status}: ${withoutAddresses(answer.text).slice(0, 300)}`);
      }
    },
  };
}

/** Removes what looks like addresses of mail from a text, which is then logged. */
export function withoutAddresses(text: string): string {
  return text.replace(/[^\s<>"':,;]+@[^\s<>"':,;]+/g, '<address>');
}
