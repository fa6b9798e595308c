import { Aws, CfnOutput, Duration } from 'aws-cdk-lib';
import {
  AccountRecovery,
  CfnManagedLoginBranding,
  FeaturePlan,
  ManagedLoginVersion,
  CfnUserPoolGroup,
  CfnUserPoolUser,
  CfnUserPoolUserToGroupAttachment,
  Mfa,
  OAuthScope,
  UserPool,
  type UserPoolClient,
  UserPoolClientIdentityProvider,
} from 'aws-cdk-lib/aws-cognito';
import { Construct } from 'constructs';
import { acknowledge } from '../acknowledge.ts';
import { canaryDomain, canaryUser } from '../canary/canary-settings.ts';
import type { Role } from '../../shared/access/roles.ts';
import type { CanaryRow, ConsoleClient, Issuer, Stage } from '../stage.ts';

const membershipClaim = 'cognito:groups';

export interface UsersProps {
  stage: Stage;
  /** The origin of the console, if the stage has one. */
  consoleUrl: string | undefined;
}

/**
 * The user pool of a stage that has no external issuer. An administrator creates users and adds them to groups named
 * `<domainID>:<role>`. Cognito writes the groups into the access token, and the service needs nothing else.
 */
export class Users extends Construct {
  readonly issuer: Issuer;
  /** Undefined if the stage has no console. */
  readonly consoleClient: ConsoleClient | undefined;
  /** Undefined if the stage has no canary. */
  readonly canaryClientId: string | undefined;

  constructor(scope: Construct, id: string, { stage, consoleUrl }: UsersProps) {
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
    this.canaryClientId = stage.canary && this.addCanary(pool);
    this.consoleClient = consoleUrl === undefined ? undefined : this.signInTo(consoleUrl, pool, stage);

    this.issuer = {
      url: pool.userPoolProviderUrl,
      audience: present([client.userPoolClientId, this.consoleClient?.id, this.canaryClientId]),
      membershipClaim,
    };
    new CfnOutput(this, 'PoolId', { value: pool.userPoolId });
    new CfnOutput(this, 'ClientId', { value: client.userPoolClientId });
  }

  /**
   * Adds the user of the canary, and the one client that takes a password without credentials of the account. An administrator
   * sets the password once (docs/deploy.md#the-canary).
   * @returns the identifier of the client
   */
  private addCanary(pool: UserPool): string {
    const { userPoolId } = pool;
    const user = new CfnUserPoolUser(this, 'Canary', { userPoolId, username: canaryUser, messageAction: 'SUPPRESS' });
    for (const role of ['administrator', 'cvm'] satisfies Role[]) {
      const groupName = `${canaryDomain}:${role}`;
      const group = new CfnUserPoolGroup(this, `CanaryGroup-${role}`, { userPoolId, groupName });
      const member = new CfnUserPoolUserToGroupAttachment(this, `CanaryMember-${role}`, {
        userPoolId,
        groupName,
        username: canaryUser,
      });
      member.node.addDependency(user, group);
    }
    const client = pool.addClient('CanaryClient', {
      authFlows: { userPassword: true },
      disableOAuth: true,
      preventUserExistenceErrors: true,
      accessTokenValidity: Duration.hours(1),
      refreshTokenValidity: Duration.hours(1),
    });
    return client.userPoolClientId;
  }

  /** Adds the pool's sign-in pages, and a client that leads from the console to them and back. */
  private signInTo(consoleUrl: string, pool: UserPool, { name, region }: Stage): ConsoleClient {
    const domainPrefix = `computations-${name}-${Aws.ACCOUNT_ID}`; // unique in the region
    const domain = pool.addDomain('SignIn', {
      cognitoDomain: { domainPrefix },
      managedLoginVersion: ManagedLoginVersion.NEWER_MANAGED_LOGIN,
    });
    const client = pool.addClient('Console', {
      oAuth: {
        flows: { authorizationCodeGrant: true },
        scopes: [OAuthScope.OPENID],
        callbackUrls: [`${consoleUrl}/console/`],
        logoutUrls: [`${consoleUrl}/console/?signed-out`],
      },
      supportedIdentityProviders: [UserPoolClientIdentityProvider.COGNITO],
      preventUserExistenceErrors: true,
      accessTokenValidity: Duration.hours(1),
      refreshTokenValidity: Duration.hours(12),
    });
    new CfnManagedLoginBranding(this, 'Branding', {
      userPoolId: pool.userPoolId,
      clientId: client.userPoolClientId,
      useCognitoProvidedValues: true,
    }).node.addDependency(domain);
    return {
      id: client.userPoolClientId,
      scopes: 'openid',
      origins: [`https://cognito-idp.${region}.amazonaws.com`, `https://${domainPrefix}.auth.${region}.amazoncognito.com`],
    };
  }
}

/** Returns the issuer of a user pool in the stage's region that another stack or person has made. */
export function issuerOfPool(
  { region }: Stage,
  { id, clientId }: { id: string; clientId: string },
  { console, canary }: { console?: ConsoleClient | undefined; canary?: CanaryRow | undefined } = {},
): Issuer {
  return {
    url: `https://cognito-idp.${region}.amazonaws.com/${id}`,
    audience: present([clientId, console?.id, canary?.poolClientId]),
    membershipClaim,
  };
}

function present(ids: (string | undefined)[]): string[] {
  return ids.filter((id) => id !== undefined);
}

/** Users exchange a password for a token by SRP, or with the account's credentials (`admin-initiate-auth`). */
function addClient(pool: UserPool): UserPoolClient {
  return pool.addClient('Client', {
    authFlows: { userSrp: true, adminUserPassword: true },
    disableOAuth: true,
    preventUserExistenceErrors: true,
    accessTokenValidity: Duration.hours(1),
    refreshTokenValidity: Duration.days(30),
  });
}
