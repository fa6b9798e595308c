import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { localCredentials } from '../../../local/machine/environment.ts';
import { sendOnlyWhile } from '../../../local/machine/engine-clients.ts';
import { withHealthOfEngine } from '../../../local/stack.ts';
import { startAnsweringServer, status, type AnsweringServer } from '../../support/answering-server.ts';

let other: AnsweringServer | undefined;
afterEach(() => other?.stop());

/** A client of an engine that does not listen, at whose address another server does. */
async function clientOfEngine(isListening: () => boolean) {
  other = await startAnsweringServer();
  other.answerWith(status(200, '{"Item": {"pk": {"S": "of another table"}}}'));
  const place = { region: 'local', credentials: localCredentials, endpoint: other.endpoint };
  const client = DynamoDBDocumentClient.from(new DynamoDBClient({ ...place, maxAttempts: 2 }));
  sendOnlyWhile(isListening, client);
  return { client, server: other };
}

const get = new GetCommand({ TableName: 'table', Key: { pk: 'a', sk: 'b' } });

describe('a client that sends only while its engine listens', () => {
  it('sends nothing to the server that has the address of the engine meanwhile', async () => {
    const { client, server } = await clientOfEngine(() => false);
    await expect(client.send(get)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    expect(server.received).toEqual([]);
    client.destroy();
  });

  it('repeats a call when the engine listens again', async () => {
    const isListening = vi.fn(() => true).mockReturnValueOnce(false);
    const { client, server } = await clientOfEngine(isListening);
    expect((await client.send(get)).Item).toEqual({ pk: 'of another table' });
    expect(server.received).toEqual(['POST']);
    client.destroy();
  });
});

describe('/health', () => {
  it('does not take another server at the address of the engine for the engine', async () => {
    other = await startAnsweringServer();
    other.answerWith(status(200));
    const { endpoint } = other;
    const ofEngine = (isListening: boolean) => {
      const engine = { endpoint, isListening: () => isListening, stop: () => Promise.resolve() };
      return withHealthOfEngine(() => Promise.resolve({ statusCode: 200 }), engine);
    };
    const event = { requestContext: { requestId: 'request-1' } };
    expect(await ofEngine(false)('service/health', event)).toMatchObject({ statusCode: 503 });
    expect(await ofEngine(true)('service/health', event)).toMatchObject({ statusCode: 200 });
  });
});
