import { constants, sign, type KeyObject } from 'node:crypto';
import { approvalText, type Limits } from '../../../shared/approvals/approval-signature.ts';
import { CmsError } from '../cms-error.ts';
import { exitCodes } from '../exit-codes.ts';

/**
 * Signs an approval (docs/contract.md, section 9): Ed25519; ECDSA with SHA-256, in DER; RSA-PSS with SHA-256 and a salt of 32 bytes.
 * @returns base64
 * @throws CmsError for another type of key
 */
export function signApproval(
  key: KeyObject,
  approved: { domain: string; computationId: string; digest: string; limits: Limits },
): string {
  return signed(key, Buffer.from(approvalText(approved))).toString('base64');
}

function signed(key: KeyObject, text: Buffer): Buffer {
  switch (key.asymmetricKeyType) {
    case 'ed25519':
      return sign(null, text, key);
    case 'ec':
      return sign('sha256', text, { key, dsaEncoding: 'der' });
    case 'rsa':
      return sign('sha256', text, { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 });
    default:
      throw new CmsError(
        `A key of the type ${String(key.asymmetricKeyType)} cannot sign approvals. Expected Ed25519, EC or RSA.`,
        { exitCode: exitCodes.usage },
      );
  }
}
