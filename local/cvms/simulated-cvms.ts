import type { TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import { verifyToken } from 'computation-management-attestation';
import { withTestRoots } from 'computation-management-attestation/test-roots';
import { testRoot } from 'computation-management-simulated-cvm';
import { readRegistration } from '../../shared/rows/command-stream.ts';
import { tokenVerifier } from '../../shared/attestation/index.ts';
import { type Claim, readClaims } from '../../shared/rows/claim.ts';
import { replaceClient } from '../../shared/runtime/clients.ts';
import { Deadline } from '../../shared/runtime/deadline.ts';
import { type AnyKey, cvmKeys, schemaKeys } from '../../shared/table/keys.ts';
import { openTable, type Table } from '../../shared/table/table.ts';
import { putItemIf } from '../../shared/table/writes.ts';
import { keysIn } from '../functions/background.ts';

/**
 * Makes the functions trust the root certificates of AMD and Intel. With test evidence, the functions trust the public test keys
 * of simulated CVMs instead.
 */
export function chooseRoots(testEvidence: boolean): void {
  replaceClient(tokenVerifier, testEvidence ? withTestRoots([Buffer.from(testRoot())]).verifyToken : verifyToken);
}

/**
 * Refuses kept data that was made with other trusted root certificates than the service uses now, because the data contains
 * verdicts on evidence.
 * @throws Error that says with which option the data was made
 */
export async function assertSameRoots(table: Table, testEvidence: boolean): Promise<void> {
  const ConditionExpression = 'attribute_not_exists(pk) OR test_evidence = :value';
  const condition = { ConditionExpression, ExpressionAttributeValues: { ':value': testEvidence } };
  if (await putItemIf(table, { ...schemaKeys.roots, test_evidence: testEvidence }, condition)) return;
  const made = testEvidence ? 'without' : 'with';
  throw new Error(`The data was made ${made} --test-evidence. Start ${made} it, or choose another directory.`);
}

/**
 * Returns a function that lists the claims on runs, each by a CVM, that simulated CVMs serve over HTTP: those of CVMs that nobody
 * registered. Registered CVMs take their runs themselves. The function reads the table only if this process has sent a change of a
 * claim or of a registration since the last read.
 */
export function claimsOfSimulatedCvms(): () => Promise<Claim[]> {
  const table = openTable(() => new Deadline());
  let changes = 0;
  table.document.middlewareStack.add(
    (next, { commandName }) =>
      async (call) => {
        const isChange =
          commandName === 'TransactWriteCommand' && keysIn(call.input as TransactWriteCommandInput).some(isClaimOrCvm);
        try {
          return await next(call);
        } finally {
          if (isChange) changes += 1; // a change that failed may have been written
        }
      },
    { step: 'initialize', priority: 'high' },
  );
  let read: { changes: number; claims: Claim[] } | undefined;
  return async () => {
    if (read?.changes !== changes) read = { changes, claims: await readClaimsOfSimulatedCvms(table) };
    return read.claims;
  };
}

async function readClaimsOfSimulatedCvms(table: Table): Promise<Claim[]> {
  const claims = await readClaims(table);
  const registrations = await Promise.all(claims.map(({ domain, cvm_id }) => readRegistration(table, { domain, cvmId: cvm_id })));
  return claims.filter((_, index) => registrations[index] === undefined);
}

const { sk: ofCvm } = cvmKeys.cvm('', '');

function isClaimOrCvm({ pk, sk }: AnyKey): boolean {
  return cvmKeys.claimShards.includes(pk) || sk === ofCvm;
}
