import { describe, expect, it } from 'vitest';
import { askThisMachine } from '../../../tools/commands/this-machine.ts';
import { startAnsweringServer, status } from '../../support/answering-server.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';

const server = sharedByTests(startAnsweringServer);

describe('a question to the service of this machine', () => {
  it.each([
    [200, '<html>'],
    [200, ''],
    [404, 'Not Found'],
  ])('fails with the address if another program answers with %d and "%s"', async (code, body) => {
    server.answerWith(status(code, body));
    const asked = askThisMachine(server.endpoint, '/local/cvm', {});
    await expect(asked).rejects.toThrow(
      `Expected an answer in JSON from the service of this machine at ${server.endpoint}/local/cvm.`,
    );
  });

  it('fails with the reason that the service gives', async () => {
    server.answerWith(status(500, '{"detail":"It is broken."}'));
    await expect(askThisMachine(server.endpoint, '/local/cvm', {})).rejects.toThrow('It is broken.');
  });
});
