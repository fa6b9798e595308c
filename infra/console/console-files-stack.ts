import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { RemovalPolicy, Token } from 'aws-cdk-lib';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Bucket } from 'aws-cdk-lib/aws-s3';
import { BucketDeployment, CacheControl, Source } from 'aws-cdk-lib/aws-s3-deployment';
import type { Construct } from 'constructs';
import { acknowledge, shownPartition } from '../house/acknowledge.ts';
import { StageStack } from '../house/stage-stack.ts';
import { nameIn, type ConsoleClient, type Issuer, type Stage } from '../stages/stage.ts';
import { bucketExport, type ConsoleStack } from './console-stack.ts';

export interface ConsoleFilesStackProps {
  stage: Stage;
  site: ConsoleStack;
  /** The folder of the built console, with `index.html`. */
  folder: string;
  issuer: Issuer;
  client: ConsoleClient;
  apiUrl: string;
  /** Where presigned requests go. */
  contentUrl: string;
}

/** Uploads the web console. Earlier files stay, for pages that are open during a deployment. */
export class ConsoleFilesStack extends StageStack {
  constructor(scope: Construct, id: string, { stage, site, folder, issuer, client, apiUrl, contentUrl }: ConsoleFilesStackProps) {
    super(scope, id, stage, 'Computation management: the files of the web console');
    const { distribution } = site;
    const destinationBucket = Bucket.fromBucketArn(this, 'Bucket', site.bucketArn);
    const logGroup = new LogGroup(this, 'Log', { retention: stage.logRetention, removalPolicy: RemovalPolicy.DESTROY });
    const shared = { destinationBucket, logGroup, prune: false };
    const assets = new BucketDeployment(this, 'Assets', {
      ...shared,
      sources: [Source.asset(folder, { exclude: ['index.html', 'help'] })],
      destinationKeyPrefix: 'console',
      cacheControl: [CacheControl.fromString('public, max-age=31536000, immutable')],
    });
    new BucketDeployment(this, 'Help', {
      ...shared,
      sources: [Source.asset(join(folder, 'help'))],
      destinationKeyPrefix: 'help',
      cacheControl: [CacheControl.noCache()],
    });
    const configuration = {
      api: apiUrl,
      issuer: issuer.url,
      clientId: client.id,
      scopes: client.scopes,
      membershipClaim: issuer.membershipClaim,
    };
    const page = new BucketDeployment(this, 'Page', {
      ...shared,
      sources: [
        Source.data('index.html', pageFor(folder, [apiUrl, contentUrl, ...client.origins])),
        Source.jsonData('config.json', configuration),
      ],
      destinationKeyPrefix: 'console',
      cacheControl: [CacheControl.noCache()],
      distribution,
      distributionPaths: ['/console/index.html', '/console/config.json'],
    });
    page.node.addDependency(assets); // a page never names files that are not there yet
    this.acknowledgeFindings(nameIn(stage, bucketExport));
  }

  /** The construct that uploads is CDK's own: a function with the AWS command line, called only by CloudFormation. */
  private acknowledgeFindings(bucketName: string): void {
    const qualifier = this.synthesizer.bootstrapQualifier ?? 'hnb659fds';
    const account = Token.isUnresolved(this.account) ? '<AWS::AccountId>' : this.account;
    const reason = 'CDK makes this function for the upload. Only CloudFormation calls it, and waits for its result.';
    const findings = [
      'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole]',
      ...['GetBucket', 'GetObject', 'List', 'Abort', 'DeleteObject'].map((name) => `AwsSolutions-IAM5[Action::s3:${name}*]`),
      `AwsSolutions-IAM5[Resource::arn:${shownPartition(this)}:s3:::cdk-${qualifier}-assets-${account}-${this.region}/*]`,
      `AwsSolutions-IAM5[Resource::${bucketName}/*]`,
      'AwsSolutions-IAM5[Resource::*]', // an invalidation has no resource
      'AwsSolutions-L1',
      'Serverless-LambdaDLQ',
      'Serverless-LambdaLatestVersion',
      'Serverless-LambdaTracing',
    ];
    for (const id of findings) acknowledge(this, id, reason);
  }
}

/** Narrows the policy of the page to the hosts of this stage. A browser applies it together with that of the headers. */
function pageFor(folder: string, hosts: readonly string[]): string {
  const page = readFileSync(join(folder, 'index.html'), 'utf8');
  const policy = `<meta http-equiv="Content-Security-Policy" content="connect-src 'self' ${hosts.join(' ')}" />`;
  const [start, ...rest] = page.split('<head>');
  if (rest.length !== 1) throw new Error('index.html of the console must have one <head>.');
  return `${start}<head>${policy}${rest.join('')}`;
}
