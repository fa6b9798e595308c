import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';
import { localCredentials } from '../../local/machine/environment.ts';

/** Creates a client for the embedded storage, or for what stands in its place. */
export function s3At(endpoint: string, options: S3ClientConfig = {}): S3Client {
  return new S3Client({
    endpoint,
    region: 'local',
    credentials: localCredentials,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    ...options,
  });
}
