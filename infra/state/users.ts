import { CfnOutput, Duration } from 'aws-cdk-lib';
import { AccountRecovery, FeaturePlan, Mfa, UserPool, type UserPoolClient } from 'aws-cdk-lib/aws-cognito';
import { Construct } from 'constructs';
import { acknowledge } from '../acknowledge.ts';
import type { Issuer, Stage } from '../stages.ts';

const membershipClaim = 'cognito:groups';

/**
 * The user pool of a stage that has no external issuer. An administrator creates users and adds them to groups named
 * `<domainID>:<role>`. Cognito writes the groups into the access token, and the service needs nothing else.
 */
export class Users extends Construct {
  readonly issuer: Issuer;

  constructor(scope: Construct, id: string, stage: Stage) {
    super(scope, id);
    const pool = new UserPool(this, 'Pool', {
      selfSignUpEnabled: false,
      signInAliases: { username: true, email: true },
      passwordPolicy: {
        minLength: 12,
        requireLowercase: true,
        requireUppercase: true,
        requireDigits: true,
        requireSymbols: true,
      },
      mfa: Mfa.OPTIONAL,
      mfaSecondFactor: { otp: true, sms: false },
      accountRecovery: AccountRecovery.EMAIL_ONLY,
      featurePlan: FeaturePlan.ESSENTIALS,
      deletionProtection: stage.deletionProtection,
      removalPolicy: stage.removalPolicy,
    });
    acknowledge(pool, 'AwsSolutions-COG2', 'CVMs sign in without a person, so they have no second factor. Users can enable one.');
    acknowledge(
      pool,
      'AwsSolutions-COG8',
      'Threat protection costs more per user. Stages that need it use an external issuer that has it.',
    );
    const client = addClient(pool);

    this.issuer = {
      url: pool.userPoolProviderUrl,
      audience: [client.userPoolClientId],
      membershipClaim,
    };
    new CfnOutput(this, 'PoolId', { value: pool.userPoolId });
    new CfnOutput(this, 'ClientId', { value: client.userPoolClientId });
  }
}

/** Returns the issuer of a user pool in the stage's region that another stack or person has made. */
export function issuerOfPool({ region }: Stage, { id, clientId }: { id: string; clientId: string }): Issuer {
  return { url: `https://cognito-idp.${region}.amazonaws.com/${id}`, audience: [clientId], membershipClaim };
}

/** Clients exchange a password for a token by SRP, or with the account's credentials (`admin-initiate-auth`). */
function addClient(pool: UserPool): UserPoolClient {
  return pool.addClient('Client', {
    authFlows: { userSrp: true, adminUserPassword: true },
    disableOAuth: true,
    preventUserExistenceErrors: true,
    accessTokenValidity: Duration.hours(1),
    refreshTokenValidity: Duration.days(30),
  });
}
