import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import {
  IpAddressType,
  NetworkLoadBalancer,
  NetworkTargetGroup,
  Protocol,
  TargetType,
} from 'aws-cdk-lib/aws-elasticloadbalancingv2';
import { CnameRecord } from 'aws-cdk-lib/aws-route53';
import { Construct } from 'constructs';
import { acknowledge } from '../house/acknowledge.ts';
import { zoneOf } from '../house/stage-stack.ts';
import { nameIn, type GatewayRow, type Stage } from '../stages/stage.ts';
import type { GatewayNetwork } from './gateway-network.ts';

export interface GatewayEntranceProps {
  stage: Stage;
  row: GatewayRow;
  network: GatewayNetwork;
  healthPort: number;
}

/**
 * The network load balancer before the tasks of the gateway. TLS ends at the tasks, because the gateway has to see the
 * certificates of CVMs.
 */
export class GatewayEntrance extends Construct {
  readonly targets: NetworkTargetGroup;
  /** The host names in the gateway's certificate. The first name is the one to tell CVMs. */
  readonly hosts: string[];

  constructor(scope: Construct, id: string, { stage, row, network, healthPort }: GatewayEntranceProps) {
    super(scope, id);
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
    acknowledge(balancer, 'AwsSolutions-ELB2', 'A Network Load Balancer logs only what it decrypts itself.');
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
    const zone = row.hostName === undefined ? undefined : zoneOf(this, stage);
    if (row.hostName !== undefined && zone)
      new CnameRecord(this, 'Record', { zone, recordName: `${row.hostName}.`, domainName: loadBalancerDnsName });
    this.hosts = row.hostName === undefined ? [loadBalancerDnsName] : [row.hostName, loadBalancerDnsName];
  }
}
