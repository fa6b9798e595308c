import { Duration } from 'aws-cdk-lib';
import { BackupPlan, BackupPlanRule, BackupResource, BackupVault } from 'aws-cdk-lib/aws-backup';
import { Schedule } from 'aws-cdk-lib/aws-events';
import { ManagedPolicy, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import { acknowledge } from '../house/acknowledge.ts';
import { recoverableInDays, nameIn, type Stage } from '../stages/stage.ts';

/** The daily copies of the table and the content by AWS Backup, to a vault of another account or Region (docs/restore.md). */
export class Copies extends Construct {
  constructor(scope: Construct, id: string, stage: Stage, vaultArn: string, resourceArns: readonly string[]) {
    super(scope, id);
    const vault = new BackupVault(this, 'Vault', {
      backupVaultName: nameIn(stage, 'copies'),
      removalPolicy: stage.removalPolicy,
    });
    const plan = new BackupPlan(this, 'Plan', { backupPlanName: nameIn(stage, 'copies'), backupVault: vault });
    const deleteAfter = Duration.days(recoverableInDays);
    const destinationBackupVault = BackupVault.fromBackupVaultArn(this, 'Destination', vaultArn);
    plan.addRule(
      new BackupPlanRule({
        scheduleExpression: Schedule.cron({ hour: '2', minute: '0' }),
        deleteAfter,
        copyActions: [{ destinationBackupVault, deleteAfter }],
      }),
    );
    const policies = ['service-role/AWSBackupServiceRolePolicyForBackup', 'AWSBackupServiceRolePolicyForS3Backup'];
    const role = new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('backup.amazonaws.com'),
      managedPolicies: policies.map((name) => ManagedPolicy.fromAwsManagedPolicyName(name)),
    });
    for (const name of policies) {
      const finding = `AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/${name}]`;
      acknowledge(
        role,
        finding,
        'What AWS Backup needs is in policies of AWS, which change with it. Only AWS Backup has the role.',
      );
    }
    const resources = resourceArns.map((arn) => BackupResource.fromArn(arn));
    plan.addSelection('State', { resources, role: role, disableDefaultBackupPolicy: true });
  }
}
