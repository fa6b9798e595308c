import { Key, type IKey } from 'aws-cdk-lib/aws-kms';
import type { Construct } from 'constructs';

/** Returns the key that encrypts the data of a stage, which somebody else has made. */
export function dataKeyOf(scope: Construct, arn: string): IKey {
  return (scope.node.tryFindChild('DataKey') as IKey | undefined) ?? Key.fromKeyArn(scope, 'DataKey', arn);
}
