import { describe, expect, it } from 'vitest';
import { welcome } from '../../local/start-message.ts';

const facts = {
  baseUrl: 'http://localhost:3000',
  version: '1.0.0',
  token: 'token',
  simulator: true,
  withConsole: false,
  dataDirectory: 'data',
  gateway: 'localhost:40001',
  isGatewayMoved: true,
};

describe('what npm start prints', () => {
  it('says that enrolled CVMs do not find the gateway if its usual port is taken', () => {
    expect(welcome(facts)).toContain('Its usual port is taken. CVMs that were enrolled');
    expect(welcome({ ...facts, isGatewayMoved: false })).not.toContain('Its usual port is taken.');
    expect(welcome({ ...facts, dataDirectory: undefined })).not.toContain('Its usual port is taken.');
  });
});
