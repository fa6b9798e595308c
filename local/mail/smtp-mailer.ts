import { unescape } from 'node:querystring';
import { createTransport } from 'nodemailer';
import { UsageError } from '../../shared/command-line/arguments.ts';
import { headersOf, type Mail, NotSentError, RefusedError, withoutAddresses } from '../../shared/notifications/index.ts';

/** A server that takes mail by SMTP, and the sender that it is told. */
interface SmtpServer {
  host: string;
  port: number;
  /** True for TLS from the first byte. Else TLS is used if the server offers it. */
  secure: boolean;
  auth?: { user: string; pass: string };
  from: string;
}

const expected = 'Expected --smtp smtp://[USER:PASSWORD@]HOST[:PORT][?from=ADDRESS], or smtps://.';

/** Reads the option `--smtp` of `npm start`. @throws UsageError */
export function parseSmtp(text: string): SmtpServer {
  const url = URL.parse(text);
  const from = url?.searchParams.get('from') ?? 'computation-management@localhost';
  const isKnown = url && ['smtp:', 'smtps:'].includes(url.protocol) && url.hostname !== '' && ['', '/'].includes(url.pathname);
  const others = [...(url?.searchParams.keys() ?? [])].filter((name) => name !== 'from');
  if (!isKnown || others.length > 0 || !/^[^\s@<>]+@[^\s@<>]+$/.test(from)) throw new UsageError(expected);
  const secure = url.protocol === 'smtps:';
  const [user, pass] = [url.username, url.password].map(unescape); // a `%` of its own stays
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port) || (secure ? 465 : 587),
    secure,
    from,
    ...(user ? { auth: { user, pass: pass ?? '' } } : {}),
  };
}

const longestTime = 10_000;
const limits = {
  connectionTimeout: longestTime,
  greetingTimeout: longestTime,
  socketTimeout: longestTime,
  dnsTimeout: longestTime,
};

/** Returns a function that sends a mail by SMTP, on a connection of its own. It throws what `Mailer.send` throws. */
export function sendBySmtp({ from, ...server }: SmtpServer): (mail: Mail) => Promise<void> {
  return async (mail) => {
    const { to, subject, text } = mail;
    const transport = createTransport({ ...server, ...limits, disableFileAccess: true, disableUrlAccess: true });
    try {
      await transport.sendMail({ from, to: { address: to, name: '' }, subject, text, headers: headersOf(mail) });
    } catch (error) {
      const { code, command, responseCode = 0 } = error as { code?: string; command?: string; responseCode?: number };
      if (responseCode === 0 && command !== 'CONN' && code !== 'EDNS' && code !== 'EAUTH') throw error; // perhaps it was sent
      const Failure = responseCode >= 500 && (code === 'EENVELOPE' || code === 'EMESSAGE') ? RefusedError : NotSentError;
      throw new Failure(withoutAddresses(String(error)));
    } finally {
      transport.close();
    }
  };
}
