import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import {
  BlockPublicAccess,
  Bucket,
  BucketEncryption,
  HttpMethods,
  ObjectOwnership,
  type BucketProps,
  type CfnBucket,
  type IBucket,
  ObjectLockRetention,
} from 'aws-cdk-lib/aws-s3';
import type { Construct } from 'constructs';
import { acknowledge } from '../house.ts';
import { tokensLiveInDays } from '../../shared/rows/agent-tokens.ts';
import { tokenPrefix } from '../../shared/rows/content-store.ts';
import { contentCors } from '../../shared/http/cors.ts';
import { keptForAudit, type Stage, recoverableInDays } from '../stages/stage.ts';
import { dataKeyOf } from './keys.ts';

/** The settings of every bucket: nobody reaches it without a permission, or without TLS. */
export const closedBucket = {
  blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
  objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
  encryption: BucketEncryption.S3_MANAGED,
  enforceSSL: true,
  minimumTLSVersion: 1.2,
} satisfies BucketProps;

/**
 * The bucket with the content of the assets. Keys are unique and objects are never overwritten, so old versions are only those of
 * deleted objects, which stay for `recoverableInDays`.
 */
export class ContentBucket extends Bucket {
  readonly accessLogBucketName: string;

  constructor(scope: Construct, id: string, stage: Stage, origins: readonly string[]) {
    const accessLogs = new Bucket(scope, `${id}AccessLogs`, {
      ...closedBucket,
      removalPolicy: keptForAudit(stage),
      lifecycleRules: [{ expiration: Duration.days(stage.auditRetention) }],
    });
    acknowledge(accessLogs, { 'AwsSolutions-S1': 'It is the bucket of the access logs.' });

    super(scope, id, {
      ...closedBucket,
      ...(stage.dataKeyArn === undefined
        ? {}
        : { encryption: BucketEncryption.KMS, encryptionKey: dataKeyOf(scope, stage.dataKeyArn), bucketKeyEnabled: true }),
      removalPolicy: stage.removalPolicy,
      serverAccessLogsBucket: accessLogs as IBucket,
      versioned: true,
      lifecycleRules: [
        {
          abortIncompleteMultipartUploadAfter: Duration.days(1),
          noncurrentVersionExpiration: Duration.days(recoverableInDays),
          expiredObjectDeleteMarker: true,
        },
        { prefix: tokenPrefix, expiration: Duration.days(tokensLiveInDays) },
      ],
      cors: origins.length > 0 ? [corsOf(origins)] : [],
    });
    this.accessLogBucketName = accessLogs.bucketName;
    // The construct's `eventBridgeEnabled` would add a function. CloudFormation needs only this property.
    (this.node.defaultChild as CfnBucket).addPropertyOverride('NotificationConfiguration.EventBridgeConfiguration', {
      EventBridgeEnabled: true,
    });
  }
}

function corsOf(origins: readonly string[]) {
  return {
    allowedOrigins: [...origins],
    allowedMethods: contentCors.methods.map((method) => HttpMethods[method]),
    allowedHeaders: [...contentCors.allowHeaders],
    exposedHeaders: [...contentCors.exposeHeaders],
    maxAge: contentCors.maxAgeInSeconds,
  };
}

/**
 * The bucket of the stage's log: its tiles, which never change, and its checkpoint, of which each version is kept for
 * `recoverableInDays`. It stays when its stack is deleted, unless the data of the stage goes too.
 */
export class LogBucket extends Bucket {
  constructor(scope: Construct, id: string, { removalPolicy, logLockedForDays: days }: Stage) {
    super(scope, id, {
      ...closedBucket,
      removalPolicy: days === undefined ? removalPolicy : RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
      versioned: true,
      ...(days === undefined
        ? {}
        : { objectLockEnabled: true, objectLockDefaultRetention: ObjectLockRetention.compliance(Duration.days(days)) }),
      lifecycleRules: [{ noncurrentVersionExpiration: Duration.days(recoverableInDays) }],
    });
    acknowledge(this, { 'AwsSolutions-S1': 'Everybody may read all of it through the API, whose access log names the readers.' });
  }
}
