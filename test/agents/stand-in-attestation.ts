import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { type sendUnaryData, Server, ServerCredentials, type ServerUnaryCall, type ServiceDefinition } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { testToken, testTokenOver } from 'computation-management-simulated-cvm';

/** The evidence that a CVM gives for the report data that its agent asks for, in place of that of a TEE. */
export const evidences = {
  /** Evidence of this machine, made for these data. */
  fresh: fresh(randomBytes(32)),
  /** The first evidence of this machine again and again. */
  stale: (reportData) => (first ??= testTokenOver(reportData)),
  /** Evidence that another CVM has sent over its own certificate. */
  replayed: () => testToken('another certificate'),
  /** Evidence of another machine, which is asked for these data. */
  relayed: (reportData) => testTokenOver(reportData),
} satisfies Record<string, (reportData: Buffer) => Buffer>;
let first: Buffer | undefined;

function fresh(guest: Buffer) {
  return (reportData: Buffer) => testTokenOver(reportData, guest);
}

/** Runs within a CVM in place of its attestation-service, as `node stand-in-attestation.ts fresh|stale|replayed|relayed`. */
if (import.meta.main) {
  const evidence = evidences[process.argv[2] as keyof typeof evidences];
  const service = loadSync(join(import.meta.dirname, 'attestation.proto'), { keepCase: true })[
    'attestation.v1.AttestationService'
  ] as ServiceDefinition;
  const server = new Server();
  server.addService(service, {
    FetchAttestation: (
      { request }: ServerUnaryCall<{ report_data: Buffer }, object>,
      done: sendUnaryData<{ eat_token: Buffer }>,
    ) => done(null, { eat_token: evidence(request.report_data) }),
  });
  server.bindAsync('unix:/run/cocos/attestation.sock', ServerCredentials.createInsecure(), (error) => {
    if (error) throw error;
  });
}
