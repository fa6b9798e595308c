import { fingerprintOfCertificate } from 'computation-management-formats/certificates';
import { parsePublicKey } from 'computation-management-formats/public-key';
import * as v from 'valibot';
import { agentConfigInput } from '../../../shared/rows/agent-config.ts';
import type { KeyCase } from './key-corpus.ts';

/** Returns what becomes of a text in its field, by the code that reads the field: the reason why it is refused, or that it is taken. */
export function verdictOf({ field, text }: Pick<KeyCase, 'field' | 'text'>): string {
  try {
    if (field === 'key') return `taken: ${parsePublicKey(text).fingerprint}`;
    if (field === 'certificate') return `taken: ${fingerprintOfCertificate(text)}`;
    const names = ['cert_file', 'server_ca_file', 'client_ca_file'];
    const reasons = names.flatMap(
      (name) => v.safeParse(agentConfigInput, { [name]: text }).issues?.map(({ message }) => message) ?? 'taken:',
    );
    return [...new Set(reasons)].join(' | ');
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
