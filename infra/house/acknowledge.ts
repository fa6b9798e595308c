import { Stack, Token, Validations } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';

/**
 * Accepts a finding of cdk-nag for a construct and its children. @param id the rule of cdk-nag @param reason why the finding is
 * acceptable
 */
export function acknowledge(construct: IConstruct, id: string, reason: string): void {
  Validations.of(construct).acknowledge({ id, reason });
}

/** Returns the partition of AWS, such as `aws`, in the form that findings of cdk-nag show. */
export function shownPartition(construct: IConstruct): string {
  const { partition } = Stack.of(construct);
  return Token.isUnresolved(partition) ? '<AWS::Partition>' : partition;
}
