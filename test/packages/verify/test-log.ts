import { generateKeyPairSync, sign } from 'node:crypto';
import type { LogProofs } from '../../../packages/verify/statement.ts';
import { logEntry, logTag } from 'computation-management-formats/digests';
import type { LoggedAct } from 'computation-management-formats/vocabulary';
import { checkpointText, formatProof, leafHash, nodeHash, parseVkey, vkeyOf } from 'computation-management-transparency-log';

/** A log of a service, which signs any checkpoint. */
export function newTestLog(origin: string) {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const vkey = vkeyOf(origin, publicKey.export({ format: 'der', type: 'spki' }).subarray(-32));
  const signed = (text: string) => sign(null, Buffer.from(text), privateKey);
  const noteOf = (text: string) => {
    const line = Buffer.concat([Buffer.from(parseVkey(vkey).id, 'hex'), signed(text)]).toString('base64');
    return `${text}\n— ${origin} ${line}\n`;
  };
  return { origin, vkey, signed, noteOf };
}

export const testLog = newTestLog('log.example/stage');

/**
 * Makes a log that has the start and the end of the run of a statement as its only entries, in this order. Returns what stands beside the
 * statement. Of a statement of another form it proves what it can.
 * @param salt the byte that the salts repeat
 */
export function logOf(statement: object, salt = 7, log = testLog): LogProofs {
  const { domain, computation, run, events } = statement as {
    domain: string;
    computation: string;
    run?: { id: string };
    events?: Record<'started' | 'last', { hash: string } | undefined>;
  };
  const salts = [salt, salt + 1].map((byte) => new Uint8Array(16).fill(byte));
  const logged = [['run-start', events?.started] as const, ['run-end', events?.last] as const];
  const leaves = logged.map(([type, event], at) => {
    const tag = logTag({ type, domain, computation, run: run?.id ?? '' });
    return leafHash(logEntry({ tag, salt: salts[at] ?? new Uint8Array(), event_hash: event?.hash ?? '' }));
  });
  const [first = new Uint8Array(), second = new Uint8Array()] = leaves;
  const checkpoint = log.noteOf(checkpointText({ origin: log.origin, size: 2, root: nodeHash(first, second) }));
  const entryOf = (type: LoggedAct, index: number, beside: Uint8Array) => ({
    type,
    index,
    salt: Buffer.from(salts[index] ?? []).toString('base64'),
    proof: formatProof({ index, hashes: [beside], checkpoint }),
  });
  return { entries: [entryOf('run-start', 0, second), entryOf('run-end', 1, first)] };
}

/** Makes a log whose only entry is that of the end of a result's review. Returns what stands beside the statement. */
export function logOfResult(statement: { domain: string; computation: string; run: string; event: { hash: string } }): LogProofs {
  const { event, domain, computation, run } = statement;
  const salt = new Uint8Array(16).fill(9);
  const root = leafHash(logEntry({ tag: logTag({ type: 'result', domain, computation, run }), salt, event_hash: event.hash }));
  const checkpoint = testLog.noteOf(checkpointText({ origin: testLog.origin, size: 1, root }));
  const proof = formatProof({ index: 0, hashes: [], checkpoint });
  return { entries: [{ type: 'result', index: 0, salt: Buffer.from(salt).toString('base64'), proof }] };
}
