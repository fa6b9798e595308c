import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import {
  type sendUnaryData,
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type ServiceDefinition,
  status,
} from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { testToken, testTokenOver } from 'computation-management-simulated-cvm';
import { testReport } from './test-machine.ts';

const guest = randomBytes(32);

/** The evidence that a CVM gives for the report data that its agent asks for, in place of that of a TEE. */
export const evidences = {
  /** Evidence of this machine, made for these data. */
  fresh: (reportData) => testTokenOver(reportData, guest),
  /** The first evidence of this machine again and again. */
  stale: (reportData) => (first ??= testTokenOver(reportData)),
  /** Evidence that another CVM has sent over its own certificate. */
  replayed: () => testToken('another certificate'),
  /** Evidence of another machine, which is asked for these data. */
  relayed: (reportData) => testTokenOver(reportData),
} satisfies Record<string, (reportData: Buffer) => Buffer>;
let first: Buffer | undefined;

/** Fills the report data and the guest into a report. */
const ofGuest = (data: Buffer) => (report: Buffer) => {
  report.set(data, 0x50);
  report.set(guest, 0x140);
};

/** Attests to the key broker at `KEY_BROKER` as the guest, in place of the attestation agent. @returns what that gives an agent of Cocos */
async function kbsToken(): Promise<Buffer> {
  const { KbsClient } = await import('../support/kbs-client.ts'); // makes RSA keys, which takes long
  const tee = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const machine = (change: (report: Buffer) => void) => ({ report: testReport(change), certificates: [] });
  const client = new KbsClient(process.env['KEY_BROKER'] ?? '', guest, tee, machine);
  for (const answer of [await client.auth(), await client.attest()]) {
    if (answer.status !== 200) throw new Error(`The key broker answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  }
  const tee_keypair = tee.privateKey.export({ format: 'pem', type: 'pkcs8' });
  return Buffer.from(JSON.stringify({ token: client.token, tee_keypair }));
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
    FetchKbsToken: (_: unknown, done: sendUnaryData<{ token: Buffer }>) => {
      kbsToken().then(
        (token) => done(null, { token }),
        (error: unknown) => done({ code: status.INTERNAL, details: String(error) }),
      );
    },
  });
  server.bindAsync('unix:/run/cocos/attestation.sock', ServerCredentials.createInsecure(), (error) => {
    if (error) throw error;
  });
  const device = '/run/sev-guest.sock'; // of sev-guest.c
  rmSync(device, { force: true });
  createServer((program) => program.on('data', (data) => program.write(testReport(ofGuest(data))))).listen(device);
}
