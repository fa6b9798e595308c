import { type App, Stack } from 'aws-cdk-lib';
import { CodePipeline, CodePipelineSource, ManualApprovalStep, ShellStep, type IFileSetProducer } from 'aws-cdk-lib/pipelines';
import { ComputationServiceStage, type BuiltFiles } from 'computation-management-stage';

/** Makes the pipeline of a platform team, which deploys two stages of the service to accounts of their own. */
export function pipelineIn(app: App, built?: BuiltFiles): { pipeline: CodePipeline; stages: ComputationServiceStage[] } {
  const files = built ? { built } : {}; // tests have others
  const region = 'eu-central-1';
  const stack = new Stack(app, 'Platform', { env: { account: '111122223333', region } });
  const pipeline = new CodePipeline(stack, 'Pipeline', {
    crossAccountKeys: true,
    synth: new ShellStep('Synth', {
      input: CodePipelineSource.connection('acme/platform', 'main', {
        connectionArn: `arn:aws:codeconnections:${region}:111122223333:connection/1`,
      }) as IFileSetProducer,
      commands: ['npm ci', 'npx cdk synth'],
    }) as IFileSetProducer,
  });
  const test = new ComputationServiceStage(stack, 'Test', { ...files, name: 'test', accountId: '222233334444' });
  const production = new ComputationServiceStage(stack, 'Production', {
    ...files,
    name: 'acme',
    accountId: '333344445555',
    alarmTargets: [{ email: 'platform@example.com' }],
    deletionProtection: true,
    terminationProtection: true,
    copiesVaultArn: 'arn:aws:backup:eu-west-1:444455556666:backup-vault:copies',
    dataKeyArn: `arn:aws:kms:${region}:333344445555:key/11111111-2222-4333-8444-555555555555`,
    permissionsBoundaryArn: 'arn:aws:iam::333344445555:policy/boundary',
    tags: { 'cost-center': '4711' },
    hostedZone: { id: 'Z1', name: 'example.com' },
    domain: { name: 'api.example.com' },
    console: {},
    canary: { everyMinutes: 15 },
    eventBus: true,
    gateway: {
      port: 7001,
      tasks: 2,
      hostName: 'cvms.example.com',
      image: `333344445555.dkr.ecr.${region}.amazonaws.com/node:24.21.0-slim`,
      vpc: {
        id: 'vpc-0123456789abcdef0',
        subnets: { [`${region}a`]: 'subnet-0123456789abcdef0', [`${region}b`]: 'subnet-0123456789abcdef1' },
        isPublic: false,
      },
    },
  });
  pipeline.addStage(test);
  pipeline.addStage(production, { pre: [new ManualApprovalStep('Approve')] });
  return { pipeline, stages: [test, production] };
}
