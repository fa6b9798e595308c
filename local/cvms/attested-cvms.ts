import { generateKeyPairSync } from 'node:crypto';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { fingerprintOfCertificate } from 'computation-management-formats/certificates';
import { cvmId, domainId } from 'computation-management-formats/identifiers';
import { attests } from 'computation-management-simulated-cvm';
import * as v from 'valibot';
import { registerCvmRoute } from '../../shared/endpoints/cvms.ts';
import { readClaimOfCvm } from '../../shared/rows/claim.ts';
import { readRegistration } from '../../shared/rows/command-stream.ts';
import type { CvmReference } from '../../shared/rows/cvm.ts';
import { Deadline } from '../../shared/runtime/deadline.ts';
import { openTable } from '../../shared/table/table.ts';
import type { InvokeFunction } from '../functions/local-functions.ts';
import { keptFile } from '../machine/data-directory.ts';
import { simulateAttestedCvm } from './attested-cvm.ts';
import type { CvmGateway } from './cvm-gateway.ts';

const keptCvm = v.object({ domain: domainId, cvmId, certificate: v.string(), key: v.string() });
const withoutCertificate = v.pipe(v.string(), v.parseJson(), v.looseObject({ certificate: v.optional(v.undefined()) }));

/**
 * Simulates CVMs that attest with public test keys, each by an agent that connects to the gateway with a certificate of its own.
 * Keeps their keys and certificates under `dataDirectory`.
 * @returns a function that invokes functions of the service, and that registers such a CVM with its certificate when a request
 * registers it without one
 */
export function withAttestedCvms(
  invoke: InvokeFunction,
  { gateway, dataDirectory }: { gateway: CvmGateway; dataDirectory: string | undefined },
  onStop: (stop: () => Promise<void>) => void,
): InvokeFunction {
  const withoutIt = 'Without it, remove the simulated CVMs that attest, and register them again.';
  const file = keptFile(dataDirectory, 'attested-cvms.json', { schema: v.array(keptCvm), withoutIt });
  const table = openTable(() => new Deadline());
  const ending = new AbortController();
  const registered = async (cvm: CvmReference) => (await readRegistration(table, cvm))?.certificate;
  const live = (cvm: v.InferOutput<typeof keptCvm>) =>
    simulateAttestedCvm({
      ...cvm,
      ...gateway,
      isRegistered: async () => (await registered(cvm)) === fingerprintOfCertificate(cvm.certificate),
      isHeld: async () => (await readClaimOfCvm(table, { domain: cvm.domain, cvm_id: cvm.cvmId })) !== undefined,
      closing: ending.signal,
    });
  let cvms = file.read() ?? [];
  const lives = cvms.map(live);
  onStop(async () => {
    ending.abort();
    await Promise.all(lives);
  });

  const certificateFor = async ({ domain, cvmId }: CvmReference): Promise<string> => {
    const known = cvms.find((cvm) => cvm.domain === domain && cvm.cvmId === cvmId);
    if (known) return known.certificate;
    const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const publicKey = pair.publicKey.export({ format: 'pem', type: 'spki' }).toString();
    const { certificate } = await gateway.enrol({ domain, cvmId, publicKey });
    const made = { domain, cvmId, certificate, key: pair.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString() };
    cvms = file.write([...cvms, made]);
    lives.push(live(made));
    return certificate;
  };

  return async (name, event) => {
    const { pathParameters, body } = event as APIGatewayProxyEventV2;
    const cvm = { domain: pathParameters?.['domainID'], cvmId: pathParameters?.['cvmID'] };
    const given = v.safeParse(withoutCertificate, body);
    const isSimulated = name === registerCvmRoute.name && v.is(v.pick(keptCvm, ['domain', 'cvmId']), cvm) && attests(cvm.cvmId);
    if (!given.success || !isSimulated || (await registered(cvm)) !== undefined) return await invoke(name, event);
    const certificate = await certificateFor(cvm);
    return await invoke(name, { ...(event as object), body: JSON.stringify({ ...given.output, certificate }) });
  };
}
