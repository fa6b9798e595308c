import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { KMSClient } from '@aws-sdk/client-kms';
import { issueCvmCertificate } from '../certificates/authority.ts';
import { kmsAuthority } from '../certificates/kms-authority.ts';
import { nameIn, type Stage } from '../stage.ts';
import { stages } from '../stages.ts';
import { cvmAuthorityAlias } from '../state/cvm-authority-key.ts';
import { UsageError } from './arguments.ts';
import type { EnrolmentTarget } from './enrolment-target.ts';

/**
 * A stage on AWS. The caller's credentials must be allowed to describe its gateway's stack, and to sign with the key of its
 * authority.
 * @param token of an administrator of the domain
 * @throws UsageError if there is no such stage or token
 */
export async function deployedStage(name: string, token: string | undefined): Promise<EnrolmentTarget> {
  const stage = stages.find((row) => row.name === name);
  if (!stage)
    throw new UsageError(`--stage is ${JSON.stringify(name)}; expected one of ${stages.map((row) => row.name).join(' ')}.`);
  if (!token) throw new UsageError(`Set TOKEN to a token of an administrator of the domain at ${name}.`);
  const { service, address } = await placesOf(stage);
  return {
    service,
    token: () => Promise.resolve(token),
    enrol: async ({ domain, cvmId, publicKey }) => {
      const authority = await kmsAuthority(new KMSClient({ region: stage.region }), cvmAuthorityAlias(stage), stage.name);
      const certificate = await issueCvmCertificate(authority, { domain, cvmId }, publicKey);
      return { certificate, ca: authority.certificate, address };
    },
  };
}

async function placesOf(stage: Stage): Promise<{ service: string; address: string }> {
  const StackName = nameIn(stage, 'gateway');
  const { Stacks = [] } = await new CloudFormationClient({ region: stage.region })
    .send(new DescribeStacksCommand({ StackName }))
    .catch((error: unknown) => {
      throw new Error(`The stack ${StackName} cannot be read. Is it deployed, and do you have its account's credentials?`, {
        cause: error,
      });
    });
  const outputs = new Map(Stacks.flatMap(({ Outputs = [] }) => Outputs.map((each) => [each.OutputKey, each.OutputValue])));
  const [service, address] = [outputs.get('ApiUrl'), outputs.get('GatewayAddress')];
  if (!service || !address) throw new Error(`The stack ${StackName} lacks its outputs. Deploy it again.`);
  return { service, address };
}
