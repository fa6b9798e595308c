import { type CfnResource, CustomResource, Duration, RemovalPolicy } from 'aws-cdk-lib';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import { acknowledge } from '../house/acknowledge.ts';
import { allow } from '../house/permissions.ts';
import { loggedFunction } from '../house/logged-function.ts';
import type { Stage } from '../stages/stage.ts';

export interface GatewayCertificateProps {
  stage: Stage;
  /** The ARN of the KMS key of the CVM authority, which signs the gateway's certificate. */
  authorityKeyArn: string;
  hosts: readonly string[];
  /** The folder of the function that issues the gateway's certificate. */
  code: string;
  /** Any text. A deployment with another text than the last one issues a new certificate of the gateway. */
  trigger: string;
}

/**
 * The certificate of the gateway and its private key, in a secret. A function issues a new certificate when the tasks of the
 * gateway are replaced.
 */
export class GatewayCertificate extends Construct {
  readonly secret: Secret;
  /**
   * The version of the secret with the gateway's certificate. Tasks read the secret once, so a new version must replace the
   * tasks.
   */
  readonly version: string;

  constructor(scope: Construct, id: string, { stage, authorityKeyArn, hosts, code, trigger }: GatewayCertificateProps) {
    super(scope, id);
    this.secret = new Secret(this, 'Secret', {
      description: `The certificates of the gateway of ${stage.name}`,
      removalPolicy: RemovalPolicy.DESTROY, // the next deployment issues another
    });
    acknowledge(
      this.secret,
      'AwsSolutions-SMG4',
      'Each deployment of the gateway replaces it, and an alarm tells long before it expires.',
    );
    const issuer = loggedFunction(this, {
      stage,
      name: 'gateway-certificate',
      description: 'Issues the certificate of the gateway',
      code: Code.fromAsset(code),
      memorySize: 512,
      timeout: Duration.seconds(60),
      may: [
        allow(['kms:GetPublicKey', 'kms:Sign'], authorityKeyArn),
        allow(['secretsmanager:PutSecretValue'], this.secret.secretArn),
      ],
      isTraced: true,
      environment: {
        STAGE: stage.name,
        LOG_LEVEL: stage.logLevel,
        AUTHORITY_KEY_ARN: authorityKeyArn,
        TLS_SECRET_ARN: this.secret.secretArn,
        GATEWAY_HOSTS: hosts.join(','),
      },
    });
    acknowledge(issuer, 'Serverless-LambdaDLQ', 'CloudFormation waits for its answer and fails the deployment without one.');
    const issued = new CustomResource(this, 'Issued', {
      serviceToken: issuer.functionArn,
      properties: { Hosts: hosts, Trigger: trigger },
    });
    (issued.node.defaultChild as CfnResource).addPropertyOverride('ServiceTimeout', 300);
    this.version = issued.getAttString('Version');
  }
}
