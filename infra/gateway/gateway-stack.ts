import { type CfnResource, CustomResource, Duration, RemovalPolicy, CfnOutput } from 'aws-cdk-lib';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import { acknowledge, allow, loggedFunction, refuse, StageStack } from '../house.ts';
import type { GatewayRow } from '../stages/stage.ts';
import { join } from 'node:path';
import { certificateFunctionFolder, healthPort, GatewayBundle } from './gateway-task.ts';
import type { Deployed } from '../service/service-stack.ts';
import { GatewayEntrance, GatewayNetwork } from './gateway-network.ts';
import { GatewayService } from './gateway-service.ts';

type CertificateProps = Omit<Deployed, 'service'> & { code: string; hosts: string[]; trigger: string };

/**
 * The certificate of the gateway and its private key, in a secret. A function issues a new certificate when the tasks of the
 * gateway are replaced.
 */
class GatewayCertificate extends Construct {
  readonly secret: Secret;
  /**
   * The version of the secret with the gateway's certificate. Tasks read the secret once, so a new version must replace the
   * tasks.
   */
  readonly version: string;

  /** @param code the folder of the function @param trigger any text: another one than in the last deployment issues a new certificate */
  constructor(scope: Construct, { stage, state, code, hosts, trigger }: CertificateProps) {
    super(scope, 'Certificate');
    const { cvmAuthorityKeyArn: authorityKeyArn = '' } = state;
    this.secret = new Secret(this, 'Secret', {
      description: `The certificates of the gateway of ${stage.name}`,
      removalPolicy: RemovalPolicy.DESTROY, // the next deployment issues another
    });
    acknowledge(this.secret, {
      'AwsSolutions-SMG4': 'Each deployment of the gateway replaces it, and an alarm tells long before it expires.',
    });
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
    acknowledge(issuer, { 'Serverless-LambdaDLQ': 'CloudFormation waits for its answer and fails the deployment without one.' });
    const issued = new CustomResource(this, 'Issued', {
      serviceToken: issuer.functionArn,
      properties: { Hosts: hosts, Trigger: trigger },
    });
    (issued.node.defaultChild as CfnResource).addPropertyOverride('ServiceTimeout', 300);
    this.version = issued.getAttString('Version');
  }
}

export class GatewayStack extends StageStack {
  /** @param props.gatewayFolder the folder of the gateway, as `npm run build` writes it */
  constructor(scope: Construct, id: string, props: Deployed & { row: GatewayRow; gatewayFolder: string }) {
    const { stage, row, state, service, gatewayFolder } = props;
    super(scope, id, stage, 'Computation management: gateway for CVMs');
    const { port, tasks, drainHours = 24 } = row;
    refuse(this, [
      [tasks < 2, `The gateway of ${stage.name} has ${tasks} tasks. With fewer than 2, every replacement disconnects all CVMs.`],
      [port === healthPort, `The gateway of ${stage.name} cannot use port ${port}, at which it answers the load balancer.`],
      [
        !(Number.isInteger(drainHours) && drainHours >= 1 && drainHours <= 48),
        `The gateway of ${stage.name} has drainHours of ${drainHours}, expected 1 to 48.`,
      ],
    ]);
    const { resources } = service;
    const bundle = new GatewayBundle(this, 'Bundle', gatewayFolder);
    const network = new GatewayNetwork(this, stage, row, resources, bundle.arns);
    const entrance = new GatewayEntrance(this, stage, row, network);
    const code = join(gatewayFolder, certificateFunctionFolder);
    const certificate = new GatewayCertificate(this, { stage, state, code, hosts: entrance.hosts, trigger: bundle.digest });
    new GatewayService(this, 'Service', { stage, row, resources, network, entrance, certificate, bundle });
    new CfnOutput(this, 'GatewayAddress', { value: `${entrance.hosts[0]}:${row.port}` });
    new CfnOutput(this, 'GatewayTarget', { value: entrance.hosts.at(-1) ?? '', description: 'For a CNAME of your own' });
    new CfnOutput(this, 'ApiUrl', { value: service.apiUrl });
  }
}
