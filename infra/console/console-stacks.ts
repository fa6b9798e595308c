import { join } from 'node:path';
import { readFileSync } from 'node:fs';
import { CfnOutput, Duration, RemovalPolicy } from 'aws-cdk-lib';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import {
  AllowedMethods,
  CachePolicy,
  Distribution,
  Function as EdgeFunction,
  FunctionCode,
  FunctionEventType,
  FunctionRuntime,
  HeadersFrameOption,
  HeadersReferrerPolicy,
  HttpVersion,
  PriceClass,
  ResponseHeadersPolicy,
  SecurityPolicyProtocol,
  ViewerProtocolPolicy,
} from 'aws-cdk-lib/aws-cloudfront';
import { S3BucketOrigin } from 'aws-cdk-lib/aws-cloudfront-origins';
import { Bucket, type IBucket } from 'aws-cdk-lib/aws-s3';
import { ARecord, RecordTarget } from 'aws-cdk-lib/aws-route53';
import { CloudFrontTarget } from 'aws-cdk-lib/aws-route53-targets';
import type { Construct } from 'constructs';
import { addLog, acknowledge, shown, zoneOf, StageStack } from '../house.ts';
import { BucketDeployment, type BucketDeploymentProps, CacheControl, type ISource, Source } from 'aws-cdk-lib/aws-s3-deployment';
import { nameIn, type Console, type Stage, type ConsoleClient, type Issuer } from '../stages/stage.ts';
import { closedBucket } from '../state/buckets.ts';
import { contentSecurityPolicy } from '../../shared/http/page-headers.ts';

/** The name of the stack output with the ARN of the console's bucket. Findings of cdk-nag contain the name. */
const bucketExport = 'console-bucket-arn';

/**
 * The stack of the console's address: a private bucket behind CloudFront, which `ConsoleFilesStack` fills. The stack refers to no
 * other stack, because other stacks refer to the console's address.
 */
export class ConsoleStack extends StageStack {
  readonly bucketArn: string;
  readonly distribution: Distribution;
  /** The origin of the console, such as `https://console.example.com`. */
  readonly url: string;

  constructor(scope: Construct, id: string, stage: Stage, { domain }: Console) {
    super(scope, id, stage, 'Computation management: the address of the web console');
    const bucket = this.createBucket();
    this.bucketArn = this.exportValue(bucket.bucketArn, { name: nameIn(stage, bucketExport) });
    this.distribution = new Distribution(this, 'Distribution', {
      comment: nameIn(stage, 'console'),
      defaultBehavior: {
        origin: S3BucketOrigin.withOriginAccessControl(bucket),
        viewerProtocolPolicy: ViewerProtocolPolicy.REDIRECT_TO_HTTPS,
        allowedMethods: AllowedMethods.ALLOW_GET_HEAD,
        cachePolicy: CachePolicy.CACHING_OPTIMIZED, // as long as `cache-control` of each file says; compresses
        responseHeadersPolicy: this.createHeaders(stage),
        functionAssociations: [{ function: this.createFunction(stage), eventType: FunctionEventType.VIEWER_REQUEST }],
      },
      httpVersion: HttpVersion.HTTP2_AND_3,
      priceClass: PriceClass.PRICE_CLASS_100,
      ...(domain && {
        domainNames: [domain.name],
        certificate: Certificate.fromCertificateArn(this, 'Certificate', domain.certificateArn),
        minimumProtocolVersion: SecurityPolicyProtocol.TLS_V1_2_2021,
      }),
    });
    acknowledge(this.distribution, {
      'AwsSolutions-CFR1': 'The parties of a computation may be in any country.',
      'AwsSolutions-CFR2': 'It serves static, public files. The API has its own limits.',
      'AwsSolutions-CFR3': 'It serves static, public files. The access log of the API has what users do.',
      ...(!domain && { 'AwsSolutions-CFR4': 'Without its own domain, CloudFront sets the TLS version of its address.' }),
    });
    this.url = `https://${domain?.name ?? this.distribution.distributionDomainName}`;
    new CfnOutput(this, 'ConsoleUrl', { value: `${this.url}/console/` });
    if (!domain) return;
    const zone = zoneOf(this, stage);
    const target = RecordTarget.fromAlias(new CloudFrontTarget(this.distribution));
    if (zone) new ARecord(this, 'Record', { zone, recordName: `${domain.name}.`, target });
    new CfnOutput(this, 'ConsoleDomainTarget', {
      value: this.distribution.distributionDomainName,
      description: `The target of the DNS record of ${domain.name}`,
    });
  }

  private createBucket(): IBucket {
    const removalPolicy = RemovalPolicy.DESTROY; // a deployment writes its files again
    const bucket = new Bucket(this, 'Bucket', { ...closedBucket, removalPolicy });
    acknowledge(bucket, {
      'AwsSolutions-S1': 'It holds the files of the console, which are public. Only CloudFront reads them.',
    });
    return bucket as IBucket;
  }

  private createHeaders(stage: Stage): ResponseHeadersPolicy {
    const year = Duration.days(365);
    return new ResponseHeadersPolicy(this, 'Headers', {
      responseHeadersPolicyName: nameIn(stage, 'console'),
      securityHeadersBehavior: {
        // The page itself names the very hosts that it may call: this stack must not know the API.
        contentSecurityPolicy: { contentSecurityPolicy: contentSecurityPolicy({ connectTo: ['https:'] }), override: true },
        contentTypeOptions: { override: true },
        frameOptions: { frameOption: HeadersFrameOption.DENY, override: true },
        referrerPolicy: { referrerPolicy: HeadersReferrerPolicy.NO_REFERRER, override: true },
        strictTransportSecurity: { accessControlMaxAge: year, includeSubdomains: false, override: true },
      },
      customHeadersBehavior: { customHeaders: [{ header: 'cross-origin-opener-policy', value: 'same-origin', override: true }] },
    });
  }

  private createFunction(stage: Stage): EdgeFunction {
    return new EdgeFunction(this, 'ViewerRequest', {
      functionName: nameIn(stage, 'console'),
      code: FunctionCode.fromFile({ filePath: join(import.meta.dirname, 'viewer-request.js') }),
      runtime: FunctionRuntime.JS_2_0,
    });
  }
}

export interface ConsoleFilesStackProps {
  stage: Stage;
  site: ConsoleStack;
  /** The folder of the built console, with `index.html`. */
  folder: string;
  issuer: Issuer;
  client: ConsoleClient;
  apiUrl: string;
  /** The origin of the bucket with the content of assets, to which pages of the console send presigned requests. */
  contentUrl: string;
}

/** The stack that uploads the files of the web console. Earlier files stay, for pages that are open during a deployment. */
export class ConsoleFilesStack extends StageStack {
  constructor(scope: Construct, id: string, { stage, site, folder, issuer, client, apiUrl, contentUrl }: ConsoleFilesStackProps) {
    super(scope, id, stage, 'Computation management: the files of the web console');
    const destinationBucket = Bucket.fromBucketArn(this, 'Bucket', site.bucketArn);
    const logGroup = addLog(this, 'Log', stage);
    const upload = (id: string, destinationKeyPrefix: string, sources: ISource[], given: Partial<BucketDeploymentProps>) =>
      new BucketDeployment(this, id, { destinationBucket, logGroup, prune: false, destinationKeyPrefix, sources, ...given });
    const noCache = { cacheControl: [CacheControl.noCache()] };
    const assets = upload('Assets', 'console', [Source.asset(folder, { exclude: ['index.html', 'help'] })], {
      cacheControl: [CacheControl.fromString('public, max-age=31536000, immutable')],
    });
    upload('Help', 'help', [Source.asset(join(folder, 'help'))], noCache);
    const configuration = {
      api: apiUrl,
      issuer: issuer.url,
      clientId: client.id,
      scopes: client.scopes,
      membershipClaim: issuer.membershipClaim,
    };
    const html = Source.data('index.html', pageFor(folder, [apiUrl, contentUrl, ...client.origins]));
    const distributionPaths = ['/console/index.html', '/console/config.json'];
    const page = upload('Page', 'console', [html, Source.jsonData('config.json', configuration)], {
      ...noCache,
      distribution: site.distribution,
      distributionPaths,
    });
    page.node.addDependency(assets); // a page never names files that are not there yet
    this.acknowledgeFindings(nameIn(stage, bucketExport));
  }

  /**
   * Accepts the findings of cdk-nag about CDK's construct for uploads: a function with the AWS command line, which only
   * CloudFormation calls.
   */
  private acknowledgeFindings(bucketName: string): void {
    const qualifier = this.synthesizer.bootstrapQualifier ?? 'hnb659fds';
    const { partition, account, region } = this;
    const ofCdk = `arn:${shown(partition, '<AWS::Partition>')}:s3:::cdk-${qualifier}-assets-${shown(account, '<AWS::AccountId>')}-${region}`;
    const reason = 'CDK makes this function for the upload. Only CloudFormation calls it, and waits for its result.';
    const findings = [
      'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole]',
      ...['GetBucket', 'GetObject', 'List', 'Abort', 'DeleteObject'].map((name) => `AwsSolutions-IAM5[Action::s3:${name}*]`),
      ...[ofCdk, bucketName].map((bucket) => `AwsSolutions-IAM5[Resource::${bucket}/*]`),
      'AwsSolutions-IAM5[Resource::*]', // an invalidation has no resource
      'AwsSolutions-L1',
      ...['DLQ', 'LatestVersion', 'Tracing'].map((rule) => `Serverless-Lambda${rule}`),
    ];
    for (const id of findings) acknowledge(this, { [id]: reason });
  }
}

/**
 * Returns the page of the console with a content security policy that names the hosts of the stage. A browser also applies the
 * policy in the response headers.
 */
function pageFor(folder: string, hosts: readonly string[]): string {
  const page = readFileSync(join(folder, 'index.html'), 'utf8');
  const policy = `<meta http-equiv="Content-Security-Policy" content="connect-src 'self' ${hosts.join(' ')}" />`;
  const [start, ...rest] = page.split('<head>');
  if (rest.length !== 1) throw new Error('index.html of the console must have one <head>.');
  return `${start}<head>${policy}${rest.join('')}`;
}
