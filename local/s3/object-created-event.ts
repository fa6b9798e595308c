import type { S3Event } from 'aws-lambda';

export interface CreatedObject {
  eventName: 'ObjectCreated:Put' | 'ObjectCreated:Copy' | 'ObjectCreated:CompleteMultipartUpload';
  bucket: string;
  key: string;
  sizeInBytes: number;
  eTag: string;
}

/** Builds the notification that S3 sends to a Lambda function. As in S3, the key is URL-encoded with `+` for a space. */
export function objectCreatedEvent(object: CreatedObject): S3Event {
  const now = new Date();
  return {
    Records: [
      {
        eventVersion: '2.1',
        eventSource: 'aws:s3',
        awsRegion: 'local',
        eventTime: now.toISOString(),
        eventName: object.eventName,
        userIdentity: { principalId: 'local' },
        requestParameters: { sourceIPAddress: '127.0.0.1' },
        responseElements: { 'x-amz-request-id': '', 'x-amz-id-2': '' },
        s3: {
          s3SchemaVersion: '1.0',
          configurationId: 'local',
          bucket: { name: object.bucket, ownerIdentity: { principalId: 'local' }, arn: `arn:aws:s3:::${object.bucket}` },
          object: {
            key: encodeURIComponent(object.key).replaceAll('%20', '+').replaceAll('%2F', '/'),
            size: object.sizeInBytes,
            eTag: object.eTag.replaceAll('"', ''),
            sequencer: now.getTime().toString(16).toUpperCase().padStart(18, '0'),
          },
        },
      },
    ],
  };
}
