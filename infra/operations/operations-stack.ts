import type { Construct } from 'constructs';
import { Topic } from 'aws-cdk-lib/aws-sns';
import type { ServiceStack } from '../service/service-stack.ts';
import { StageStack } from '../stage-stack.ts';
import type { Stage } from '../stages.ts';
import type { StateStack } from '../state/state-stack.ts';

export interface OperationsStackProps {
  stage: Stage;
  state: StateStack;
  service: ServiceStack;
}

/** What watches the service: alarms, who hears of them, and the dashboard. */
export class OperationsStack extends StageStack {
  constructor(scope: Construct, id: string, { stage }: OperationsStackProps) {
    super(scope, id, stage, 'Computation management: alarms and dashboard');
    new Topic(this, 'Alarms', { enforceSSL: true });
  }
}
