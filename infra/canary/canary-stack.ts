import { ArnFormat, Duration, RemovalPolicy } from 'aws-cdk-lib';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction as FunctionTarget } from 'aws-cdk-lib/aws-events-targets';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { Construct } from 'constructs';
import { acknowledge, allow, loggedFunction, StageStack, refuse } from '../house.ts';
import type { Deployed } from '../service/service-stack.ts';
import { nameIn, type CanaryCredentials, type CanaryRow, type Stage } from '../stages/stage.ts';
import { canaryUser, type CanarySettings } from '../../functions/operations/canary/canary-settings.ts';

/**
 * The time limit of the canary's function: more than the 150 seconds of its steps and the minute in which it deletes what it
 * made.
 */
const timeout = Duration.seconds(240);
const leastMinutes = 5;
const mostMinutes = 60;

/**
 * The stack of the canary: a function that a schedule calls, and that does through the API what users and a CVM do. Its role may
 * only read one secret and write the function's log.
 */
export class CanaryStack extends StageStack {
  /** @param props.folder the folder of the canary's function, as `npm run build` writes it */
  constructor(scope: Construct, id: string, props: Deployed & { row: CanaryRow; folder: string }) {
    const { stage, row, folder } = props;
    super(scope, id, stage, 'Computation management: canary');
    const { credentials, everyMinutes, poolClientId } = row;
    const { name, issuer, existing, mfa } = stage;
    const isOften = Number.isInteger(everyMinutes) && everyMinutes >= leastMinutes && everyMinutes <= mostMinutes;
    refuse(this, [
      [
        !isOften,
        `The canary of ${name} runs every ${everyMinutes} minutes. A call may take four minutes, and an alarm should not wait longer ` +
          `than two hours: choose a whole number from ${leastMinutes} to ${mostMinutes}.`,
      ],
      [
        Boolean(issuer && !credentials),
        `The canary of ${name} needs credentials of the stage's issuer: add them to its row in infra/stages/stages.ts.`,
      ],
      [
        Boolean(!issuer && credentials),
        `The canary of ${name} has credentials of an issuer, but the stage has a user pool: remove them from its row.`,
      ],
      [
        mfa === 'required' && !credentials,
        `The canary of ${name} signs in with a password alone, but mfa is required: leave one of them out.`,
      ],
      [
        existing?.userPool !== undefined && poolClientId === undefined,
        `The canary of ${name} needs a client of the existing user pool: make one for it alone, and add it to its row in ` +
          'infra/stages/stages.ts as poolClientId (docs/deploy.md#the-canary).',
      ],
      [
        !existing?.userPool && poolClientId !== undefined,
        `The canary of ${name} names a client of an existing user pool, but the stage has none: remove it from its row.`,
      ],
    ]);
    const secretArn = credentials ? this.arnOf(credentials) : this.newPassword(stage);
    const settings = settingsOf(row, props, secretArn);
    const canary = loggedFunction(this, {
      stage,
      name: 'canary',
      description: 'Runs a computation on a simulated CVM, as users do',
      code: Code.fromAsset(folder),
      memorySize: 256, // it mostly waits
      timeout,
      may: [allow(['secretsmanager:GetSecretValue'], secretArn)],
      isTraced: false,
      environment: { STAGE: stage.name, LOG_LEVEL: stage.logLevel, CANARY: this.toJsonString(settings) },
      retryAttempts: 0,
      maxEventAge: Duration.seconds(60),
    });
    const reason = 'An alarm tells of each failure, and the next call does the same work.';
    acknowledge(canary, {
      'Serverless-LambdaDLQ': reason,
      'Serverless-LambdaAsyncFailureDestination': reason,
      'Serverless-LambdaTracing': 'It calls the API as a user does. The service traces its own functions.',
    });
    const rule = new Rule(this, 'Schedule', {
      description: 'Calls the canary',
      schedule: Schedule.rate(Duration.minutes(row.everyMinutes)),
      targets: [new FunctionTarget(canary, { maxEventAge: Duration.seconds(60), retryAttempts: 0 })],
    });
    acknowledge(rule, { 'Serverless-EventBusDLQ': 'An alarm tells of a canary that does not run.' });
  }

  /**
   * Creates a secret with a generated password, which an administrator gives to the user of the canary after the first
   * deployment. Returns the ARN of the secret.
   */
  private newPassword(stage: Stage): string {
    const secret = new Secret(this, 'Password', {
      secretName: nameIn(stage, 'canary'),
      description: `The password of the user ${canaryUser}`,
      generateSecretString: { passwordLength: 32, requireEachIncludedType: true, excludeCharacters: `-"'\`\\$!&<>|;()*?[]{}~# ` },
      removalPolicy: RemovalPolicy.DESTROY, // the next deployment makes another
    });
    acknowledge(secret, { 'AwsSolutions-SMG4': 'It opens one domain without data. The document says how to replace it.' });
    return secret.secretArn;
  }

  /**
   * Returns a pattern for the ARN of an existing secret. Secrets Manager adds six characters to the name of a secret, so the
   * exact ARN is not known.
   */
  private arnOf({ secretName }: CanaryCredentials): string {
    const { COLON_RESOURCE_NAME: arnFormat } = ArnFormat;
    return this.formatArn({ service: 'secretsmanager', resource: 'secret', resourceName: `${secretName}-??????`, arnFormat });
  }
}

function settingsOf({ credentials }: CanaryRow, { state, service }: Deployed, secretArn: string): CanarySettings {
  const shared = { apiUrl: service.apiUrl, issuer: state.issuer.url };
  if (credentials) {
    const { secretName: secretId, ...client } = credentials;
    return { ...shared, signIn: 'client credentials', secretId, ...client };
  }
  const { canaryClientId: clientId = '' } = state;
  return { ...shared, signIn: 'password', clientId, user: canaryUser, secretId: secretArn };
}
