import { KMSClient } from '@aws-sdk/client-kms';
import { issueCvmCertificate, kmsAuthority } from '../../gateway/certificates/authority.ts';
import { outputsOf } from '../domains/stage-data.ts';
import { stageNamed } from '../../infra/stages/stages.ts';
import { cvmAuthorityAlias } from '../../infra/state/keys.ts';
import { UsageError } from '../../shared/command-line/arguments.ts';
import type { EnrolmentTarget } from './this-machine.ts';

/**
 * Returns the stage on AWS with a name, at which CVMs are enrolled. The caller's credentials must be allowed to describe the
 * stack of the stage's gateway, and, to enrol, to sign with the key of the CVM authority.
 * @param token of an administrator of the domain
 * @throws UsageError if there is no such stage or token
 */
export async function cvmsOfStage(name: string, token: string | undefined): Promise<EnrolmentTarget> {
  const stage = stageNamed(name);
  if (!token) throw new UsageError(`Set TOKEN to a token of an administrator of the domain at ${name}.`);
  const output = await outputsOf(stage, 'gateway');
  const address = output('GatewayAddress');
  return {
    service: output('ApiUrl'),
    token: () => Promise.resolve(token),
    enrol: async ({ domain, cvmId, publicKey }) => {
      const authority = await kmsAuthority(new KMSClient({ region: stage.region }), cvmAuthorityAlias(stage), stage.name);
      const certificate = await issueCvmCertificate(authority, { domain, cvmId }, publicKey);
      return { certificate, ca: authority.certificate, address };
    },
  };
}
