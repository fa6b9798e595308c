import { approvalText, isSignatureOf, limitsOf } from '../shared/approvals/approval-signature.ts';
import { parsePublicKey } from '../shared/keys/public-key.ts';
import { check, fails, holds, note, type Finding } from './finding.ts';
import type { Approval, Statement } from './statement.ts';

/** Checks the assets against the manifest, and the approvals of those who had to give one. */
export function checkApprovals(statement: Statement): Finding[] {
  const { assets, approvals } = statement;
  if (assets === null || approvals === null) {
    return [note('An earlier version of the service started the run. It recorded neither assets nor approvals.')];
  }
  return [...checkAssets(statement, assets), ...approvals.map((approval) => checkApproval(statement, approval))];
}

function checkAssets({ manifest, approvals }: Statement, assets: NonNullable<Statement['assets']>): Finding[] {
  const inManifest = [manifest.algorithm, ...manifest.datasets].map(({ hash }) => Buffer.from(hash).toString('hex'));
  const approvers = new Set(approvals?.map(({ user }) => user));
  const withoutWord = assets.filter(({ use, creator }) => use !== 'open' && !approvers.has(creator));
  return [
    check(
      inManifest.join() === assets.map(({ checksum }) => checksum).join(),
      `The assets are those of the manifest (${assets.length}).`,
      'The assets are not those of the manifest: their checksums differ.',
    ),
    ...withoutWord.map(({ id, creator }) => fails(`The asset ${id} needs the approval of ${creator}, who gave none.`)),
  ];
}

function checkApproval({ domain, computation, run, events, manifest_digest }: Statement, approval: Approval): Finding {
  const { user, digest, cvm_ids, expires_at, signature, key } = approval;
  if (digest !== manifest_digest) return fails(`${user} approved another manifest, ${digest}.`);
  if (cvm_ids !== null && cvm_ids.length > 0 && !cvm_ids.includes(run.cvm_id)) {
    return fails(`${user} did not approve the CVM ${run.cvm_id}.`);
  }
  if (expires_at !== null && !isBefore(events.started.timestamp, expires_at)) {
    return fails(`The approval of ${user} expired before the run.`);
  }
  if (signature === null || key === null) {
    return note(`${user} approved this manifest without a signature. The service alone says so.`);
  }
  const text = approvalText({ domain, computationId: computation, digest, limits: limitsOf(approval) });
  const fingerprint = fingerprintOf(key);
  if (fingerprint === undefined || !isSignatureOf(text, key, signature)) {
    return fails(`The signature of ${user} does not fit the approval and its key.`);
  }
  return holds(`${user} approved this manifest, signed by the key ${fingerprint}.`);
}

/** Compares times of any zone and precision. False if one of them is no time. */
function isBefore(time: string, other: string): boolean {
  return Date.parse(time) < Date.parse(other);
}

/** Returns undefined for a key that the service would not take. */
function fingerprintOf(key: string): string | undefined {
  try {
    return parsePublicKey(key).fingerprint;
  } catch {
    return undefined;
  }
}
