import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

/** A mail as a server got it by SMTP. */
export interface ReceivedMail {
  to: string;
  /** The headers by their names in lower case, unfolded. */
  headers: Map<string, string>;
  text: string;
}

/** A server that takes mail by SMTP (RFC 5321), without TLS. */
export interface SmtpServer {
  port: number;
  mails: ReceivedMail[];
  /** The number of mails that the server has not taken. */
  refused: number;
  /** The answer to the text of each mail, or undefined for none. Default: the mail is taken. */
  answer: string | undefined;
  /** The beginning of the addresses that the server refuses with 550. Default: none. */
  unknown: string | undefined;
  /** The refused addresses, one for each attempt. */
  unknownTried: string[];
  stop: () => Promise<void>;
}

export async function startSmtpServer(): Promise<SmtpServer> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => undefined);
    let [buffer, to, isData] = ['', '', false];
    const say = (line: string) => socket.write(`${line}\r\n`);
    const take = (line: string) => {
      const verb = line.slice(0, 4).toUpperCase();
      if (verb === 'RCPT') to = /<(.*)>/.exec(line)?.[1] ?? '';
      if (verb === 'DATA') isData = true;
      const isUnknown = verb === 'RCPT' && handle.unknown !== undefined && to.startsWith(handle.unknown);
      if (isUnknown) handle.unknownTried.push(to);
      if (isUnknown) say('550 5.1.1 No such user');
      else if (verb === 'QUIT') socket.end('221 Bye\r\n');
      else say(verb === 'DATA' ? '354 Go on' : verb === 'EHLO' ? '250 8BITMIME' : '250 OK');
    };
    socket.on('data', (chunk) => {
      buffer += chunk.toString();
      for (;;) {
        const end = isData ? '\r\n.\r\n' : '\r\n';
        const at = buffer.indexOf(end);
        if (at < 0) return;
        const part = buffer.slice(0, at);
        buffer = buffer.slice(at + end.length);
        if (!isData) take(part);
        else {
          isData = false;
          if (handle.answer?.startsWith('2')) handle.mails.push(mailIn(part, to));
          else handle.refused += 1;
          if (handle.answer !== undefined) say(handle.answer);
        }
      }
    });
    say('220 mail.test ESMTP');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const handle: SmtpServer = {
    port: (server.address() as AddressInfo).port,
    mails: [],
    refused: 0,
    answer: '250 Taken',
    unknown: undefined,
    unknownTried: [],
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
  return handle;
}

function mailIn(data: string, to: string): ReceivedMail {
  const [head = '', ...rest] = data.split('\r\n\r\n');
  const lines = head.replace(/\r\n[ \t]+/g, ' ').split('\r\n');
  const headers = new Map(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)]),
  );
  const body = rest.join('\r\n\r\n').replace(/^\.\./gm, '.');
  const isQuoted = headers.get('content-transfer-encoding') === 'quoted-printable';
  const text = isQuoted
    ? body.replace(/=\r\n/g, '').replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)))
    : body;
  return { to, headers, text };
}
