import { Annotations, Stack, Duration, RemovalPolicy } from 'aws-cdk-lib';
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
import { acknowledge, type Resources, zoneOf } from '../house.ts';
import { nameIn, type GatewayRow, type Stage } from '../stages/stage.ts';
import { healthPort, publicImage, repositoryOf } from './gateway-task.ts';
import {
  IpAddressType,
  NetworkLoadBalancer,
  NetworkTargetGroup,
  Protocol,
  TargetType,
} from 'aws-cdk-lib/aws-elasticloadbalancingv2';
import { CnameRecord } from 'aws-cdk-lib/aws-route53';

/**
 * The network of the gateway: subnets of a VPC that exists, or public subnets in two zones, without NAT
 * (docs/adr/0016-gateway-on-aws.md).
 */
export class GatewayNetwork extends Construct {
  readonly vpc: IVpc;
  readonly subnets: SubnetSelection;
  readonly ofEntrance: SecurityGroup;
  readonly ofTasks: SecurityGroup;

  /** @param bundleArns the ARNs of the gateway's files, which tasks fetch from the bucket of CDK's assets */
  constructor(scope: Construct, stage: Stage, row: GatewayRow, { tableArn, contentArn }: Resources, bundleArns: string[]) {
    super(scope, 'Network');
    const { vpc: existing } = row;
    this.vpc = existing
      ? Vpc.fromVpcAttributes(this, 'Vpc', { vpcId: existing.id, availabilityZones: Object.keys(existing.subnets) })
      : this.newVpc(stage);
    const subnets = Object.entries(existing?.subnets ?? {}).map(([availabilityZone, subnetId]) => {
      const subnet = Subnet.fromSubnetAttributes(this, availabilityZone, { subnetId, availabilityZone });
      Annotations.of(subnet).acknowledgeWarning('@aws-cdk/aws-ec2:noSubnetRouteTableId', 'No routes are added.');
      return subnet;
    });
    this.subnets = existing ? { subnets } : { subnetType: SubnetType.PUBLIC };
    if (!existing) this.addEndpoints(row, tableArn, contentArn, bundleArns);

    const group = (id: string, description: string) =>
      new SecurityGroup(this, id, { vpc: this.vpc, description, allowAllOutbound: false });
    this.ofEntrance = group('OfEntrance', 'The load balancer of the gateway');
    this.ofTasks = group('OfTasks', 'The tasks of the gateway');
    const port = Port.tcp(row.port);
    for (const network of row.networks ?? ['0.0.0.0/0'])
      this.ofEntrance.addIngressRule(Peer.ipv4(network), port, 'Agents of CVMs');
    acknowledge(this.ofEntrance, {
      'AwsSolutions-EC23':
        'CVMs connect from anywhere, unless the row names their networks. The gateway accepts only certificates of its authority.',
    });
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
    acknowledge(vpc, {
      'AwsSolutions-VPC7': 'The gateway logs whom it refuses. Tasks are reachable from the load balancer alone.',
    });
    return vpc as IVpc;
  }

  /**
   * Adds the free endpoints of DynamoDB and S3 to the VPC of the gateway. The policies of the endpoints keep tasks from other
   * tables and buckets, whoever owns them. The bucket of ECR has the layers of its images.
   */
  private addEndpoints({ image = publicImage }: GatewayRow, tableArn: string, contentArn: string, bundleArns: string[]): void {
    const table = this.vpc.addGatewayEndpoint('Table', { service: GatewayVpcEndpointAwsService.DYNAMODB });
    const actions = gatewayUses.table.map((action) => `dynamodb:${action}`);
    allow(table, actions, [tableArn]);
    const storage = this.vpc.addGatewayEndpoint('Storage', { service: GatewayVpcEndpointAwsService.S3 });
    const { partition } = Stack.of(this);
    const ofEcr = repositoryOf(image, partition);
    const layers = ofEcr ? [`arn:${partition}:s3:::prod-${ofEcr.region}-starport-layer-bucket/*`] : [];
    allow(storage, ['s3:GetObject'], [...bundleArns, ...layers]);
    allow(storage, ['s3:PutObject'], [`${contentArn}/${tokenPrefix}*`]);
  }
}

function allow(endpoint: GatewayVpcEndpoint, actions: string[], resources: string[]): void {
  endpoint.addToPolicy(new PolicyStatement({ principals: [new AnyPrincipal()], actions, resources }));
}

/**
 * The network load balancer before the tasks of the gateway. TLS ends at the tasks, because the gateway has to see the
 * certificates of CVMs.
 */
export class GatewayEntrance extends Construct {
  readonly targets: NetworkTargetGroup;
  /** The host names in the gateway's certificate. The first name is the one to tell CVMs. */
  readonly hosts: string[];

  constructor(scope: Construct, stage: Stage, row: GatewayRow, network: GatewayNetwork) {
    super(scope, 'Entrance');
    const balancer = new NetworkLoadBalancer(this, 'LoadBalancer', {
      loadBalancerName: nameIn(stage, 'cvms').slice(0, 32),
      vpc: network.vpc,
      internetFacing: row.vpc?.isPublic ?? true,
      vpcSubnets: network.subnets,
      ipAddressType: IpAddressType.IPV4,
      crossZoneEnabled: true, // a zone may have no task while one is replaced
      securityGroups: [network.ofEntrance],
    });
    // Its name is in the environment of every CVM. Deletion protection would also keep a failed first deployment from being undone.
    if (stage.deletionProtection) balancer.applyRemovalPolicy(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE);
    acknowledge(balancer, { 'AwsSolutions-ELB2': 'A Network Load Balancer logs only what it decrypts itself.' });
    this.targets = new NetworkTargetGroup(this, 'Targets', {
      vpc: network.vpc,
      port: row.port,
      protocol: Protocol.TCP,
      targetType: TargetType.IP,
      preserveClientIp: true, // the gateway logs the address of whom it refuses
      // Streams last for as long as their CVM, so waiting longer would only delay the end of a task.
      deregistrationDelay: Duration.seconds(10),
      // A replaced task that takes itself out keeps its connections.
      connectionTermination: false,
      healthCheck: {
        protocol: Protocol.HTTP,
        port: String(healthPort),
        path: '/',
        interval: Duration.seconds(15),
        // When a task ends, all its CVMs come back at once: their handshakes keep another one busy for up to two minutes (ADR 16).
        timeout: Duration.seconds(15),
        healthyThresholdCount: 2,
        unhealthyThresholdCount: 10,
      },
    });
    balancer.addListener('Agents', { port: row.port, protocol: Protocol.TCP, defaultTargetGroups: [this.targets] });
    const { loadBalancerDnsName } = balancer;
    this.hosts = [...(row.hostName === undefined ? [] : [row.hostName]), loadBalancerDnsName];
    const zone = row.hostName === undefined ? undefined : zoneOf(this, stage);
    if (zone) new CnameRecord(this, 'Record', { zone, recordName: `${row.hostName}.`, domainName: loadBalancerDnsName });
  }
}
