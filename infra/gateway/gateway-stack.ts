import { join } from 'node:path';
import { Annotations, CfnOutput } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { certificateFunctionFolder } from './gateway-task.ts';
import type { ServiceStack } from '../service/service-stack.ts';
import { StageStack } from '../house/stage-stack.ts';
import type { GatewayRow, Stage } from '../stages/stage.ts';
import type { StateStack } from '../state/state-stack.ts';
import { GatewayBundle } from './gateway-bundle.ts';
import { GatewayCertificate } from './gateway-certificate.ts';
import { GatewayEntrance } from './gateway-entrance.ts';
import { GatewayNetwork } from './gateway-network.ts';
import { GatewayService } from './gateway-service.ts';

export interface GatewayStackProps {
  stage: Stage;
  row: GatewayRow;
  state: StateStack;
  service: ServiceStack;
  /** The folder of the gateway, as `npm run build` writes it. */
  gatewayFolder: string;
}

/** The port at which tasks of the gateway answer health checks. Only the load balancer reaches the port. */
const healthPort = 8080;

export class GatewayStack extends StageStack {
  constructor(scope: Construct, id: string, { stage, row, state, service, gatewayFolder }: GatewayStackProps) {
    super(scope, id, stage, 'Computation management: gateway for CVMs');
    for (const fault of faultsOf(stage, row)) Annotations.of(this).addError(fault);
    const { resources } = service;
    const bundle = new GatewayBundle(this, 'Bundle', gatewayFolder);
    const network = new GatewayNetwork(this, 'Network', {
      stage,
      row,
      healthPort,
      tableArn: resources.tableArn,
      contentArn: resources.contentArn,
      bundleArns: bundle.arns,
    });
    const entrance = new GatewayEntrance(this, 'Entrance', { stage, row, network, healthPort });
    const certificate = new GatewayCertificate(this, 'Certificate', {
      stage,
      authorityKeyArn: state.cvmAuthorityKeyArn ?? '',
      hosts: entrance.hosts,
      code: join(gatewayFolder, certificateFunctionFolder),
      trigger: bundle.digest,
    });
    new GatewayService(this, 'Service', { stage, row, resources, network, entrance, certificate, bundle, healthPort });
    new CfnOutput(this, 'GatewayAddress', { value: `${entrance.hosts[0]}:${row.port}` });
    new CfnOutput(this, 'GatewayTarget', { value: entrance.hosts.at(-1) ?? '', description: 'For a CNAME of your own' });
    new CfnOutput(this, 'ApiUrl', { value: service.apiUrl });
  }
}

function faultsOf({ name }: Stage, { port, tasks, imageDigest, drainHours = 24 }: GatewayRow): string[] {
  const faults: string[] = [];
  if (tasks < 2)
    faults.push(`The gateway of ${name} has ${tasks} tasks. With fewer than 2, every replacement disconnects all CVMs.`);
  if (port === healthPort) faults.push(`The gateway of ${name} cannot use port ${port}, at which it answers the load balancer.`);
  if (!(Number.isInteger(drainHours) && drainHours >= 1 && drainHours <= 48))
    faults.push(`The gateway of ${name} has drainHours of ${drainHours}, expected 1 to 48.`);
  if (imageDigest !== undefined && !/^sha256:[0-9a-f]{64}$/.test(imageDigest))
    faults.push(`The gateway of ${name} has an imageDigest that is not sha256: and 64 hex digits.`);
  return faults;
}
