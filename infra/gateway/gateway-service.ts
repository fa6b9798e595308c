import { Annotations, Duration, RemovalPolicy, Size, Stack } from 'aws-cdk-lib';
import {
  AvailabilityZoneRebalancing,
  AwsLogDriverMode,
  type CfnService,
  Cluster,
  ContainerImage,
  ContainerInsights,
  CpuArchitecture,
  FargatePlatformVersion,
  FargateService,
  FargateTaskDefinition,
  LinuxParameters,
  type ICluster,
  LogDriver,
  OperatingSystemFamily,
  Secret as ContainerSecret,
} from 'aws-cdk-lib/aws-ecs';
import type { Role } from 'aws-cdk-lib/aws-iam';
import type { ISecret, Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { LogGroup } from 'aws-cdk-lib/aws-logs';
import { AwsCustomResource, type AwsSdkCall, PhysicalResourceId } from 'aws-cdk-lib/custom-resources';
import { Construct } from 'constructs';
import { tokenPrefix } from '../../shared/rows/content-store.ts';
import { gatewayUses } from '../../gateway/uses.ts';
import { acknowledge, customCaller, shown, shownArn, addLog, allow, permissionsFor, roleOf, type Resources } from '../house.ts';
import { metricsNamespace, nameIn, type GatewayRow, type Stage } from '../stages/stage.ts';
import {
  type GatewayBundle,
  healthPort,
  publicImage,
  repositoryOf,
  taskMemoryInMebibytes,
  taskSettings,
} from './gateway-task.ts';
import type { GatewayEntrance, GatewayNetwork } from './gateway-network.ts';

export interface GatewayServiceProps {
  stage: Stage;
  row: GatewayRow;
  resources: Resources;
  network: GatewayNetwork;
  entrance: GatewayEntrance;
  certificate: { secret: Secret; version: string };
  bundle: GatewayBundle;
}

/**
 * The time that a stopped task of the gateway has to end: more than a gateway needs to hand over its reports (`drain` in
 * gateway/session/gateway-parts.ts).
 */
const stopTimeout = Duration.seconds(30);

/** The ECS service that runs the tasks of the gateway on Fargate. */
export class GatewayService extends Construct {
  constructor(scope: Construct, id: string, props: GatewayServiceProps) {
    super(scope, id);
    const { stage, row, network, entrance } = props;
    const cluster = new Cluster(this, 'Cluster', {
      clusterName: nameIn(stage, 'gateway'),
      vpc: network.vpc,
      containerInsightsV2: ContainerInsights.DISABLED,
    });
    acknowledge(cluster, {
      'AwsSolutions-ECS4': 'Its metrics cost more than the tasks. Processor, memory and the gateway have their own.',
    });
    const taskDefinition = this.taskDefinition(props);
    const service = new FargateService(this, 'Service', {
      serviceName: nameIn(stage, 'gateway'),
      cluster: cluster as ICluster,
      taskDefinition,
      platformVersion: FargatePlatformVersion.VERSION1_4,
      vpcSubnets: network.subnets,
      assignPublicIp: row.vpc?.isPublic ?? true,
      securityGroups: [network.ofTasks],
      minHealthyPercent: 100,
      maxHealthyPercent: 400, // tasks that drain count too
      circuitBreaker: { rollback: true },
      // ECS would replace tasks without a deployment, and the log-forwarders of their CVMs never reconnect.
      availabilityZoneRebalancing: AvailabilityZoneRebalancing.DISABLED,
      healthCheckGracePeriod: Duration.seconds(180),
      enableExecuteCommand: false,
    });
    service.attachToNetworkTargetGroup(entrance.targets);
    this.deploy(stage, service, taskDefinition, row.tasks);
  }

  /**
   * Lets ECS deploy a task definition without waiting for the end of the deployment, which comes when the replaced tasks have
   * drained. CloudFormation would wait for 3 hours and then undo everything, so the service in its template never changes.
   */
  private deploy(stage: Stage, service: FargateService, definition: FargateTaskDefinition, desiredCount: number): void {
    const inTemplate = service.node.defaultChild as CfnService;
    inTemplate.addPropertyOverride('TaskDefinition', definition.family);
    inTemplate.addPropertyDeletionOverride('DesiredCount');
    service.node.addDependency(definition);
    const { serviceName, cluster } = service;
    const { taskDefinitionArn: taskDefinition } = definition;
    const onUpdate: AwsSdkCall = {
      service: 'ECS',
      action: 'UpdateService',
      parameters: { cluster: cluster.clusterName, service: serviceName, taskDefinition, desiredCount },
      physicalResourceId: PhysicalResourceId.of('deployment'),
      outputPaths: ['service.status'],
    };
    const functionName = nameIn(stage, 'gateway-deployment');
    const logGroup = addLog(this, 'DeploymentLog', stage, `/aws/lambda/${functionName}`);
    const role = roleOf(this, 'DeploymentRole', 'lambda.amazonaws.com', [
      allow(['ecs:UpdateService'], service.serviceArn),
      allow(['logs:CreateLogStream', 'logs:PutLogEvents'], logGroup.logGroupArn),
    ]);
    new AwsCustomResource(this, 'Deployment', {
      functionName,
      onUpdate,
      role: role.withoutPolicyUpdates(),
      logGroup,
      memorySize: 256,
      installLatestAwsSdk: false,
    });
    acknowledge(customCaller(this), {
      'Serverless-LambdaDLQ': 'CloudFormation waits for its answer and fails the deployment without one.',
      'Serverless-LambdaTracing': 'It makes one call in a deployment.',
    });
  }

  private taskDefinition({ stage, row, resources, certificate, entrance, bundle }: GatewayServiceProps): FargateTaskDefinition {
    const log = addLog(this, 'Log', stage, gatewayLogName(stage));
    const definition = new FargateTaskDefinition(this, 'Task', {
      family: nameIn(stage, 'gateway'),
      cpu: 256,
      memoryLimitMiB: taskMemoryInMebibytes,
      runtimePlatform: { cpuArchitecture: CpuArchitecture.ARM64, operatingSystemFamily: OperatingSystemFamily.LINUX },
      taskRole: this.roleOfTask(stage, resources, bundle, entrance).withoutPolicyUpdates(),
      executionRole: this.roleOfAgent(log, certificate.secret, row).withoutPolicyUpdates(),
    });
    definition.applyRemovalPolicy(RemovalPolicy.RETAIN); // ECS goes back to the former one if a deployment fails
    acknowledge(definition, {
      'AwsSolutions-ECS2': 'They are names, ports and checksums. The one secret comes from Secrets Manager.',
    });
    Annotations.of(definition).acknowledgeWarning(
      '@aws-cdk/aws-ecs:ecrImageRequiresPolicy',
      'The execution role has the policy.',
    );
    definition.addContainer('Gateway', {
      image: ContainerImage.fromRegistry(row.image ?? publicImage),
      command: bundle.command,
      user: 'node',
      linuxParameters: new LinuxParameters(this, 'Linux', { initProcessEnabled: true }), // passes SIGTERM on while Node starts
      stopTimeout,
      environment: {
        ...bundle.variables,
        AWS_REGION: stage.region,
        STAGE: stage.name,
        LOG_LEVEL: stage.logLevel,
        METRICS_NAMESPACE: metricsNamespace,
        TABLE_NAME: resources.tableName,
        BUCKET_NAME: resources.bucketName,
        STATE_MACHINE_ARN: resources.stateMachineArn,
        SEALING_KEY_ARN: resources.sealingKeyArn,
        GATEWAY_PORT: String(row.port),
        GATEWAY_HEALTH_PORT: String(healthPort),
        DRAIN_HOURS: String(row.drainHours ?? 24),
        BALANCER_URL: `https://elasticloadbalancing.${stage.region}.${Stack.of(this).urlSuffix}`,
        TARGET_GROUP_ARN: entrance.targets.targetGroupArn,
        CERTIFICATE_VERSION: certificate.version, // replaces the tasks, which read the secret once
        TASKS: String(row.tasks), // replaces the tasks, so that there can be fewer: ECS stops none that is protected
        ...taskSettings,
      },
      secrets: { GATEWAY_TLS: ContainerSecret.fromSecretsManager(certificate.secret as ISecret) },
      portMappings: [{ containerPort: row.port }, { containerPort: healthPort }],
      // Blocking writes would stop the gateway while CloudWatch is slow.
      logging: LogDriver.awsLogs({
        logGroup: log,
        streamPrefix: 'task',
        mode: AwsLogDriverMode.NON_BLOCKING,
        maxBufferSize: Size.mebibytes(8),
      }),
    });
    return definition;
  }

  /**
   * Creates the role of the gateway's tasks. The role allows the actions that the gateway declares, reading the gateway's own
   * files, protecting tasks of its cluster, and taking them out of the load balancer.
   */
  private roleOfTask(stage: Stage, resources: Resources, bundle: GatewayBundle, { targets }: GatewayEntrance): Role {
    const tasks = { service: 'ecs', resource: 'task', resourceName: `${nameIn(stage, 'gateway')}/*` };
    const role = roleOf(this, 'TaskRole', 'ecs-tasks.amazonaws.com', [
      ...permissionsFor(gatewayUses, resources),
      allow(['s3:PutObject'], `${resources.contentArn}/${tokenPrefix}*`),
      allow(['s3:GetObject'], ...bundle.arns),
      allow(['ecs:UpdateTaskProtection'], Stack.of(this).formatArn(tasks)),
      allow(['elasticloadbalancing:DeregisterTargets'], targets.targetGroupArn),
    ]);
    const bucket = shown(resources.contentArn, nameIn(stage, 'content-arn'));
    const ofCluster = `${shownArn(this, 'ecs')}:task/${nameIn(stage, 'gateway')}/*`;
    acknowledge(role, {
      [`AwsSolutions-IAM5[Resource::${ofCluster}]`]: 'A task protects itself, and its name is not known before.',
      [`AwsSolutions-IAM5[Resource::${bucket}/${tokenPrefix}*]`]:
        'The attestation tokens of CVMs, which are objects of their own.',
    });
    return role;
  }

  /**
   * Creates the role with which Fargate prepares a task: it writes the log, reads the secret with the certificate, and pulls an image
   * of ECR. The gateway itself does not have the role.
   */
  private roleOfAgent(log: LogGroup, secret: Secret, { image = publicImage }: GatewayRow): Role {
    const repository = repositoryOf(image, Stack.of(this).partition);
    const pulling = ['ecr:BatchCheckLayerAvailability', 'ecr:GetDownloadUrlForLayer', 'ecr:BatchGetImage'];
    const role = roleOf(this, 'ExecutionRole', 'ecs-tasks.amazonaws.com', [
      allow(['logs:CreateLogStream', 'logs:PutLogEvents'], log.logGroupArn),
      allow(['secretsmanager:GetSecretValue'], secret.secretArn),
      ...(repository ? [allow(pulling, repository.arn), allow(['ecr:GetAuthorizationToken'], '*')] : []),
    ]);
    if (repository) acknowledge(role, { 'AwsSolutions-IAM5[Resource::*]': 'A token of ECR is for no repository alone.' });
    return role;
  }
}

/** Returns the name of the log group of the gateway, which also contains the logs of the runs that the gateway serves. */
export function gatewayLogName(stage: Stage): string {
  return `/aws/ecs/${nameIn(stage, 'gateway')}`;
}
