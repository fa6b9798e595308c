import { generateKeyPairSync } from 'node:crypto';
import { toBase64 } from 'computation-management-formats/bytes';
import { parsePublicKey } from 'computation-management-formats/public-key';
import { expect, it } from 'vitest';
import { keyToSend } from '../../../../packages/console/show/texts.ts';

it('a public key in PEM is sent in a form that the service takes, and a line of OpenSSH as it is', () => {
  const { publicKey } = generateKeyPairSync('ed25519');
  const spki = new Uint8Array(publicKey.export({ format: 'der', type: 'spki' }));
  const pem = String(publicKey.export({ format: 'pem', type: 'spki' }));
  expect(parsePublicKey(keyToSend(`\n${pem}`)).spki).toEqual(spki);
  expect(keyToSend(' ssh-ed25519 AAAA alice@example.com\n')).toBe('ssh-ed25519 AAAA alice@example.com');
  expect(parsePublicKey(keyToSend(toBase64(spki))).spki).toEqual(spki);
});
