import { PolicyStatement } from 'aws-cdk-lib/aws-iam';

export function allow(actions: string[], ...resources: string[]): PolicyStatement {
  return new PolicyStatement({ actions, resources });
}
