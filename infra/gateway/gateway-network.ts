import {
  GatewayVpcEndpointAwsService,
  IpAddresses,
  Peer,
  Port,
  SecurityGroup,
  Subnet,
  SubnetType,
  Vpc,
  type GatewayVpcEndpoint,
  type IVpc,
  type SubnetSelection,
} from 'aws-cdk-lib/aws-ec2';
import { AnyPrincipal, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import { gatewayUses } from '../../gateway/uses.ts';
import { tokenPrefix } from '../../shared/rows/content-store.ts';
import { acknowledge } from '../house/acknowledge.ts';
import { nameIn, type GatewayRow, type Stage } from '../stages/stage.ts';

export interface GatewayNetworkProps {
  stage: Stage;
  row: GatewayRow;
  healthPort: number;
  tableArn: string;
  /** The ARN of the bucket with the content of assets. */
  contentArn: string;
  /** The ARNs of the gateway's files, which tasks fetch from the bucket of CDK's assets. */
  bundleArns: string[];
}

/**
 * The network of the gateway: subnets of a VPC that exists, or public subnets in two zones, without NAT
 * (docs/adr/0016-gateway-on-aws.md).
 */
export class GatewayNetwork extends Construct {
  readonly vpc: IVpc;
  readonly subnets: SubnetSelection;
  readonly ofEntrance: SecurityGroup;
  readonly ofTasks: SecurityGroup;

  constructor(scope: Construct, id: string, { stage, row, healthPort, tableArn, contentArn, bundleArns }: GatewayNetworkProps) {
    super(scope, id);
    const { vpc: existing } = row;
    this.vpc = existing
      ? Vpc.fromVpcAttributes(this, 'Vpc', { vpcId: existing.id, availabilityZones: Object.keys(existing.subnets) })
      : this.newVpc(stage);
    this.subnets = existing
      ? {
          subnets: Object.entries(existing.subnets).map(([availabilityZone, subnetId]) =>
            Subnet.fromSubnetAttributes(this, availabilityZone, { subnetId, availabilityZone }),
          ),
        }
      : { subnetType: SubnetType.PUBLIC };
    if (!existing) this.addEndpoints(tableArn, contentArn, bundleArns);

    this.ofEntrance = new SecurityGroup(this, 'OfEntrance', {
      vpc: this.vpc,
      description: 'The load balancer of the gateway',
      allowAllOutbound: false,
    });
    this.ofTasks = new SecurityGroup(this, 'OfTasks', {
      vpc: this.vpc,
      description: 'The tasks of the gateway',
      allowAllOutbound: false,
    });
    const port = Port.tcp(row.port);
    for (const network of row.networks ?? ['0.0.0.0/0'])
      this.ofEntrance.addIngressRule(Peer.ipv4(network), port, 'Agents of CVMs');
    acknowledge(
      this.ofEntrance,
      'AwsSolutions-EC23',
      'CVMs connect from anywhere, unless the row names their networks. The gateway accepts only certificates of its authority.',
    );
    for (const each of [port, Port.tcp(healthPort)]) {
      this.ofEntrance.addEgressRule(this.ofTasks, each, 'To the tasks');
      this.ofTasks.addIngressRule(this.ofEntrance, each, 'From the load balancer');
    }
    this.ofTasks.addEgressRule(Peer.anyIpv4(), Port.tcp(443), 'AWS, and the registry of the image');
  }

  private newVpc(stage: Stage): IVpc {
    const vpc = new Vpc(this, 'Vpc', {
      vpcName: nameIn(stage, 'gateway'),
      ipAddresses: IpAddresses.cidr('10.0.0.0/24'),
      maxAzs: 2,
      natGateways: 0,
      subnetConfiguration: [{ name: 'public', subnetType: SubnetType.PUBLIC, cidrMask: 26, mapPublicIpOnLaunch: false }],
      restrictDefaultSecurityGroup: false, // it would take a function; nothing is in that group
    });
    acknowledge(vpc, 'AwsSolutions-VPC7', 'The gateway logs whom it refuses. Tasks are reachable from the load balancer alone.');
    return vpc as IVpc;
  }

  /**
   * Adds the free endpoints of DynamoDB and S3 to the VPC of the gateway. The policies of the endpoints keep tasks from other
   * tables and buckets, whoever owns them.
   */
  private addEndpoints(tableArn: string, contentArn: string, bundleArns: string[]): void {
    const table = this.vpc.addGatewayEndpoint('Table', { service: GatewayVpcEndpointAwsService.DYNAMODB });
    allow(
      table,
      gatewayUses.table.map((action) => `dynamodb:${action}`),
      [tableArn],
    );
    const storage = this.vpc.addGatewayEndpoint('Storage', { service: GatewayVpcEndpointAwsService.S3 });
    allow(storage, ['s3:GetObject'], bundleArns);
    allow(storage, ['s3:PutObject'], [`${contentArn}/${tokenPrefix}*`]);
  }
}

function allow(endpoint: GatewayVpcEndpoint, actions: string[], resources: string[]): void {
  endpoint.addToPolicy(new PolicyStatement({ principals: [new AnyPrincipal()], actions, resources }));
}
