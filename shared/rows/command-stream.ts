import * as v from 'valibot';
import { cvmKeys, type Key } from '../table/keys.ts';
import { type Table, getItem } from '../table/table.ts';
import { hasAttributes, setAttributes, updateExisting, updateIf } from '../table/writes.ts';
import { storedCvm, type CvmReference } from './cvm.ts';
import { parseStored } from '../table/stored.ts';

/** The stream of a gateway over which a CVM gets its commands. */
export interface CommandStream {
  gateway: string;
  stream: string;
}

/** The state of a registered CVM that gateways need: its certificate, its attestation, and who is connected to it. */
export interface Registration {
  /**
   * The fingerprint of the certificate with which a CVM is registered. Undefined if the CVM is registered without a certificate.
   */
  certificate: string | undefined;
  /** The SHA-256 of the attestation token whose attestation answers show of a CVM. Undefined without an attestation. */
  token: string | undefined;
  /** The identifier of the agent process whose attestation is stored. Undefined without an attestation. */
  process: string | undefined;
  /** The stream over which the token of the CVM's verified attestation came. Undefined without an attestation. */
  attestedStream: string | undefined;
  commandStream: CommandStream | undefined;
  /** The gateway to which the log-forwarder of the CVM is connected. This gateway may be gone. */
  forwarder: string | undefined;
}

const holding = v.object({
  held_by: v.optional(v.string()),
  held_stream: v.optional(v.string()),
  forwarded_by: v.optional(v.string()),
  attested_process: v.optional(v.string()),
  attested_stream: v.optional(v.string()),
});

/**
 * Reads what gateways need to know of a registered CVM. Costs one read unit. Returns undefined if the CVM is not registered.
 * @param get reads the item of the CVM. Default: reads it alone
 */
export async function readRegistration(
  table: Table,
  { domain, cvmId }: CvmReference,
  get = (key: Key) => getItem(table, key),
): Promise<Registration | undefined> {
  const item = await get(cvmKeys.cvm(domain, cvmId));
  if (!item) return undefined;
  const { held_by: gateway, held_stream: stream, ...held } = parseStored(holding, item, 'registered CVM');
  const { certificate_fingerprint, attestation } = parseStored(storedCvm, item, 'registered CVM');
  return {
    certificate: certificate_fingerprint ?? undefined,
    token: attestation?.token_hash,
    process: held.attested_process,
    attestedStream: held.attested_stream,
    commandStream: gateway === undefined || stream === undefined ? undefined : { gateway, stream },
    forwarder: held.forwarded_by,
  };
}

interface CommandStreamChange {
  commandStream: CommandStream;
  instead: CommandStream | undefined;
  now: string;
}

/**
 * Makes a stream of a gateway the one over which a CVM gets its commands. The CVM counts as connected while the gateway renews
 * its lease. Safe to repeat.
 * @returns false if the stream `instead` does not have the CVM any more, or the CVM is not registered
 */
export function setCommandStream(
  table: Table,
  { domain, cvmId }: CvmReference,
  { commandStream, instead, now }: CommandStreamChange,
): Promise<boolean> {
  const { gateway, stream } = commandStream;
  const isUnchanged = instead ? 'held_by = :gateway AND held_stream = :stream' : 'attribute_not_exists(held_by)';
  return updateIf(
    table,
    cvmKeys.cvm(domain, cvmId),
    setAttributes({ last_seen_at: now, held_by: gateway, held_stream: stream }),
    {
      ConditionExpression: `attribute_exists(pk) AND ((${isUnchanged}) OR held_stream = :new_held_stream)`,
      ExpressionAttributeValues: instead ? { ':gateway': instead.gateway, ':stream': instead.stream } : {},
    },
  );
}

/**
 * Records that a CVM has lost its command stream. Does nothing if another stream has replaced it.
 * @param lastSeenAt RFC 3339, UTC, milliseconds
 */
export async function clearCommandStream(
  table: Table,
  { domain, cvmId }: CvmReference,
  { stream, lastSeenAt }: { stream: string; lastSeenAt: string },
): Promise<void> {
  const { UpdateExpression, ...set } = setAttributes({ last_seen_at: lastSeenAt });
  await updateIf(
    table,
    cvmKeys.cvm(domain, cvmId),
    { ...set, UpdateExpression: `${UpdateExpression} REMOVE held_by, held_stream` },
    hasAttributes({ held_stream: stream }),
  );
}

/** Records that the log-forwarder of a CVM is connected to a gateway, or is not any more. */
export async function recordForwarder(
  table: Table,
  { domain, cvmId }: CvmReference,
  { gateway, isThere }: { gateway: string; isThere: boolean },
): Promise<void> {
  const key = cvmKeys.cvm(domain, cvmId);
  if (isThere) await updateExisting(table, key, setAttributes({ forwarded_by: gateway }));
  else await updateIf(table, key, { UpdateExpression: 'REMOVE forwarded_by' }, hasAttributes({ forwarded_by: gateway }));
}
