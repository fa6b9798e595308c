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
  type OAuthSettings,
  UserPool,
  type UserPoolClientOptions,
  UserPoolClientIdentityProvider,
  type UserPoolDomain,
} from 'aws-cdk-lib/aws-cognito';
import type { Role } from 'computation-management-formats/vocabulary';
import { Construct } from 'constructs';
import { acknowledge } from '../house.ts';
import { canaryDomain, canaryUser } from '../../functions/operations/canary/canary-settings.ts';
import {
  keptIfProtected,
  type ConsoleClient,
  type Issuer,
  type PublicClient,
  type Stage,
  accessTokensLiveInSeconds,
} from '../stages/stage.ts';

const membershipClaim = 'cognito:groups';

/** The settings of every client of the user pool. */
const ofClients = {
  preventUserExistenceErrors: true,
  accessTokenValidity: Duration.seconds(accessTokensLiveInSeconds),
} satisfies UserPoolClientOptions;

/**
 * The ports of the user's machine at which `cms login --port` may wait for the browser. There are several, because another
 * program may use one.
 */
export const loopbackPorts = [8976, 8977, 8978];

/**
 * The user pool of a stage that has no external issuer. Its groups are named `<domainID>:<role>`, and Cognito writes the groups
 * of a user into the access token.
 */
export class Users extends Construct {
  readonly issuer: Issuer;
  /** The client of the user pool with which the console signs in. Undefined if the stage has no console. */
  readonly consoleClient: ConsoleClient | undefined;
  /** The identifier of the user pool's client with which the canary signs in. Undefined if the stage has no canary. */
  readonly canaryClientId: string | undefined;

  /** @param consoleUrl the origin of the web console. Undefined if the stage has no console */
  constructor(scope: Construct, id: string, stage: Stage, consoleUrl: string | undefined) {
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
      mfa: stage.mfa === 'required' ? Mfa.REQUIRED : Mfa.OPTIONAL,
      mfaSecondFactor: { otp: true, sms: false },
      accountRecovery: AccountRecovery.EMAIL_ONLY,
      featurePlan: FeaturePlan.ESSENTIALS,
      deletionProtection: stage.deletionProtection,
      removalPolicy: keptIfProtected(stage),
    });
    acknowledge(pool, {
      'AwsSolutions-COG2': 'CVMs sign in without a person, so they have no second factor. Users can enable one.',
      'AwsSolutions-COG8': 'Threat protection costs more per user. Stages that need it use an external issuer that has it.',
    });
    const client = pool.addClient('Client', {
      authFlows: { userSrp: true, adminUserPassword: true }, // by SRP, or with the account's credentials (`admin-initiate-auth`)
      disableOAuth: true,
      ...ofClients,
      refreshTokenValidity: Duration.days(30),
    });
    this.canaryClientId = stage.canary && this.addCanary(pool);
    const { publicClient } = stage;
    const pages = consoleUrl === undefined && !publicClient ? undefined : addSignInPages(pool, stage);
    this.consoleClient = pages && consoleUrl !== undefined ? this.addConsoleClient(consoleUrl, pages) : undefined;
    const publicClientId = pages && publicClient && this.addPublicClient(publicClient, pages);

    this.issuer = {
      url: pool.userPoolProviderUrl,
      audience: present([client.userPoolClientId, this.consoleClient?.id, this.canaryClientId, publicClientId]),
      membershipClaim,
    };
    if (publicClientId !== undefined) {
      new CfnOutput(this, 'PublicClientId', { value: publicClientId });
      new CfnOutput(this, 'Issuer', { value: pool.userPoolProviderUrl });
    }
    new CfnOutput(this, 'PoolId', { value: pool.userPoolId });
    new CfnOutput(this, 'ClientId', { value: client.userPoolClientId });
  }

  /**
   * Adds the user of the canary, and the canary's client: the only client that takes a password without credentials of the AWS
   * account.
   * @returns the identifier of the client
   */
  private addCanary(pool: UserPool): string {
    const { userPoolId } = pool;
    const username = canaryUser;
    const user = new CfnUserPoolUser(this, 'Canary', { userPoolId, username, messageAction: 'SUPPRESS' });
    for (const role of ['administrator', 'cvm'] satisfies Role[]) {
      const groupName = `${canaryDomain}:${role}`;
      const group = new CfnUserPoolGroup(this, `CanaryGroup-${role}`, { userPoolId, groupName });
      const member = { userPoolId, groupName, username };
      new CfnUserPoolUserToGroupAttachment(this, `CanaryMember-${role}`, member).node.addDependency(user, group);
    }
    const authFlows = { userPassword: true };
    const given = { authFlows, disableOAuth: true, ...ofClients, refreshTokenValidity: Duration.hours(1) };
    return pool.addClient('CanaryClient', given).userPoolClientId;
  }

  private addConsoleClient(consoleUrl: string, pages: SignInPages): ConsoleClient {
    const id = this.addSignInClient(pages, ['Console', 'Branding'], {
      callbackUrls: [`${consoleUrl}/console/`],
      logoutUrls: [`${consoleUrl}/console/?signed-out`],
    });
    return { id, scopes: 'openid', origins: pages.origins };
  }

  private addPublicClient({ callbackUrls = [], logoutUrls = [] }: PublicClient, pages: SignInPages): string {
    const loopback = loopbackPorts.map((port) => `http://127.0.0.1:${port}/callback`);
    return this.addSignInClient(pages, ['PublicClient', 'PublicClientBranding'], {
      callbackUrls: [...loopback, ...callbackUrls],
      logoutUrls: [...logoutUrls],
    });
  }

  /** Adds a client of the user pool that leads to the pool's sign-in pages and back. @returns the identifier of the client */
  private addSignInClient(
    { pool, domain }: SignInPages,
    [id, brandingId]: [string, string],
    urls: Pick<OAuthSettings, 'callbackUrls' | 'logoutUrls'>,
  ): string {
    const { userPoolClientId: clientId } = pool.addClient(id, {
      oAuth: { flows: { authorizationCodeGrant: true }, scopes: [OAuthScope.OPENID], ...urls },
      supportedIdentityProviders: [UserPoolClientIdentityProvider.COGNITO],
      ...ofClients,
      refreshTokenValidity: Duration.hours(12),
    });
    // Without it, the pages answer this client with an error.
    const branding = { userPoolId: pool.userPoolId, clientId, useCognitoProvidedValues: true };
    new CfnManagedLoginBranding(this, brandingId, branding).node.addDependency(domain);
    return clientId;
  }
}

interface SignInPages {
  pool: UserPool;
  domain: UserPoolDomain;
  /** The origins that a web page calls to sign in. */
  origins: string[];
}

function addSignInPages(pool: UserPool, { name, region }: Stage): SignInPages {
  const domainPrefix = `computations-${name}-${Aws.ACCOUNT_ID}`; // unique in the region
  const domain = pool.addDomain('SignIn', {
    cognitoDomain: { domainPrefix },
    managedLoginVersion: ManagedLoginVersion.NEWER_MANAGED_LOGIN,
  });
  const origins = [
    `https://cognito-idp.${region}.amazonaws.com`,
    `https://${domainPrefix}.${region.startsWith('us-gov-') ? 'auth-fips' : 'auth'}.${region}.amazoncognito.com`,
  ];
  return { pool, domain, origins };
}

/**
 * Returns the issuer for an existing user pool in the stage's region, which is not part of the stage. Its audience is the pool's
 * client and those of the console and the canary.
 */
export function issuerOfPool({ region, console, canary }: Stage, { id, clientId }: { id: string; clientId: string }): Issuer {
  return {
    url: `https://cognito-idp.${region}.amazonaws.com/${id}`,
    audience: present([clientId, console?.client?.id, canary?.poolClientId]),
    membershipClaim,
  };
}

function present(ids: (string | undefined)[]): string[] {
  return ids.filter((id) => id !== undefined);
}
