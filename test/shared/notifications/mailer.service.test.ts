import { afterAll, beforeAll, expect, it } from 'vitest';
import { mailerOfStage, NotSentError, RefusedError } from '../../../shared/notifications/index.ts';
import { startAnswering, startAnsweringServer, status } from '../../support/answering-server.ts';

const mail = { to: 'bob@example.com', subject: '1 task waits for you', text: 'x', unsubscribeUrl: 'https://api.example.com/u' };
const asked: { path: string; headers: Record<string, unknown>; body: string }[] = [];
let ses: Awaited<ReturnType<typeof startAnswering>>;

function use(url: string): void {
  const MAIL = JSON.stringify({ from: 'computations@example.com', page: 'p', api: 'a', url });
  Object.assign(process.env, { MAIL, AWS_REGION: 'eu-central-1', AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b' });
}

beforeAll(async () => {
  ses = await startAnswering((request) => {
    asked.push(request);
    return { MessageId: '1' };
  });
});
afterAll(() => ses.stop());

it('sends a mail by the API of SES, signed, with the headers to unsubscribe', async () => {
  use(`${ses.endpoint}/v2/email/outbound-emails`);
  await mailerOfStage()?.send(mail);
  const [{ path, headers, body } = { path: '', headers: {}, body: '{}' }] = asked;
  expect(path).toBe('/v2/email/outbound-emails');
  expect(headers['authorization']).toMatch(/^AWS4-HMAC-SHA256 Credential=a\/\d+\/eu-central-1\/ses\/aws4_request/);
  expect(JSON.parse(body)).toMatchObject({
    FromEmailAddress: 'computations@example.com',
    Destination: { ToAddresses: ['bob@example.com'] },
    Content: {
      Simple: {
        Subject: { Data: '1 task waits for you' },
        Headers: expect.arrayContaining([
          { Name: 'List-Unsubscribe', Value: '<https://api.example.com/u>' },
          { Name: 'List-Unsubscribe-Post', Value: 'List-Unsubscribe=One-Click' },
        ]) as unknown,
      },
    },
  });
});

it('takes a mail for sent at every status of success, and for not sent at others', async () => {
  const server = await startAnsweringServer();
  use(server.endpoint);
  for (const code of [200, 202, 204]) {
    server.answerWith(status(code));
    await mailerOfStage()?.send(mail);
  }
  for (const code of [304, 400, 500]) {
    server.answerWith(status(code));
    await expect(mailerOfStage()?.send(mail)).rejects.toBeInstanceOf(NotSentError);
  }
  const refusedAs = async (name: string) => {
    server.answerWith((_, response) => void response.writeHead(400, { 'x-amzn-errortype': name }).end('{}'));
    const error: unknown = await mailerOfStage()
      ?.send(mail)
      .catch((thrown: unknown) => thrown);
    return error instanceof RefusedError;
  };
  expect(await refusedAs('MessageRejected')).toBe(true);
  expect(await refusedAs('SendingPausedException:http://internal.amazon.com/')).toBe(false); // for all users
  await server.stop();
});

it('knows that a mail was not sent if nothing answers', async () => {
  const gone = await startAnswering(() => ({}));
  await gone.stop();
  use(gone.endpoint);
  await expect(mailerOfStage()?.send(mail)).rejects.toBeInstanceOf(NotSentError);
});

it('is none for a stage that sends no mail', () => {
  process.env['MAIL'] = '';
  expect(mailerOfStage()).toBeUndefined();
});
