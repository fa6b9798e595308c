import { KMSClient } from '@aws-sdk/client-kms';
import { PutSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { environment } from '../../shared/runtime/environment.ts';
import { log } from '../../shared/runtime/log.ts';
import { kmsAuthority, issueServerCertificate } from './authority.ts';

interface ResourceEvent {
  RequestType: 'Create' | 'Update' | 'Delete';
  ResponseURL: string;
  StackId: string;
  RequestId: string;
  LogicalResourceId: string;
  PhysicalResourceId?: string;
}

/**
 * Writes a new certificate for the gateway into its secret, and answers CloudFormation. CloudFormation waits an hour for an
 * answer, so a failure is answered too. An event without an answer address only renews the certificate.
 */
export async function handler(event: Partial<ResourceEvent>): Promise<{ version: string } | undefined> {
  if (event.ResponseURL === undefined) return { version: await issue() };
  const answer = event.RequestType === 'Delete' ? { Status: 'SUCCESS' } : await issued();
  const { StackId, RequestId, LogicalResourceId, PhysicalResourceId = 'gateway-certificate' } = event;
  const body = JSON.stringify({ ...answer, StackId, RequestId, LogicalResourceId, PhysicalResourceId });
  // The address is signed for a request without a content type.
  const response = await fetch(event.ResponseURL, { method: 'PUT', body: Buffer.from(body), headers: { 'content-type': '' } });
  if (!response.ok) throw new Error(`CloudFormation's address answered ${response.status}.`);
  return undefined;
}

async function issued() {
  try {
    return { Status: 'SUCCESS', Data: { Version: await issue() } };
  } catch (error) {
    log('ERROR', 'The certificate of the gateway could not be issued.', {}, error);
    return { Status: 'FAILED', Reason: error instanceof Error ? error.message : String(error) };
  }
}

/** Issues a certificate for the gateway, and stores it in the gateway's secret. @returns the version of the secret */
async function issue(): Promise<string> {
  const { STAGE, AUTHORITY_KEY_ARN, TLS_SECRET_ARN, GATEWAY_HOSTS } = environment();
  const authority = await kmsAuthority(new KMSClient(), AUTHORITY_KEY_ARN, STAGE);
  const { certificate, key } = await issueServerCertificate(authority, GATEWAY_HOSTS.split(','));
  const { VersionId = '' } = await new SecretsManagerClient().send(
    new PutSecretValueCommand({
      SecretId: TLS_SECRET_ARN,
      SecretString: JSON.stringify({ ca: authority.certificate, certificate, key }),
    }),
  );
  return VersionId;
}
