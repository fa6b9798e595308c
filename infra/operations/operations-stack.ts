import { Annotations } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import type { ServiceStack } from '../service/service-stack.ts';
import { StageStack } from '../house/stage-stack.ts';
import { targetsOf, webhooksOf, type Stage } from '../stages/stage.ts';
import type { StateStack } from '../state/state-stack.ts';
import { addAlarmTopics, AlarmWebhook } from './alarm-targets.ts';
import { Alarms } from './alarms.ts';
import { ServiceDashboard } from './dashboard.ts';

export interface OperationsStackProps {
  stage: Stage;
  state: StateStack;
  service: ServiceStack;
}

/** The service's alarms and their recipients, and the dashboard. */
export class OperationsStack extends StageStack {
  constructor(scope: Construct, id: string, { stage, state, service }: OperationsStackProps) {
    super(scope, id, stage, 'Computation management: alarms and dashboard');
    this.requireAlarmTargets(stage);
    const { own, existing } = addAlarmTopics(this, stage, targetsOf(stage));
    for (const [index, webhook] of webhooksOf(stage).entries()) {
      const number = index + 1;
      new AlarmWebhook(this, `Webhook${number}`, { stage, webhook, number });
    }

    const { apiId, stateMachineArn, reservedExecutions } = service;
    const watched = { stage, apiId, stateMachineArn, tableName: state.resources.tableName, reservedExecutions };
    const alarms = new Alarms(this, 'Alarms', watched, [own, ...existing]);
    new ServiceDashboard(this, 'Dashboard', watched, alarms);
  }

  private requireAlarmTargets(stage: Stage): void {
    const { name, alarmTargets, deletionProtection } = stage;
    if (targetsOf(stage).length > 0 || (alarmTargets === 'none' && !deletionProtection)) return;
    Annotations.of(this).addError(
      `The alarms of the stage ${name} notify nobody. Add a target to its alarmTargets in infra/stages/stages.ts` +
        (deletionProtection ? ': its data is protected from deletion, so somebody relies on it.' : ", or set them to 'none'."),
    );
  }
}
