import { Annotations, ArnFormat, Duration, RemovalPolicy } from 'aws-cdk-lib';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction as FunctionTarget } from 'aws-cdk-lib/aws-events-targets';
import { Code, type Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { Construct } from 'constructs';
import { acknowledge } from '../house/acknowledge.ts';
import { allow } from '../house/permissions.ts';
import { loggedFunction } from '../house/logged-function.ts';
import type { ServiceStack } from '../service/service-stack.ts';
import { StageStack } from '../house/stage-stack.ts';
import { nameIn, type CanaryCredentials, type CanaryRow, type Stage } from '../stages/stage.ts';
import type { StateStack } from '../state/state-stack.ts';
import { canaryUser, type CanarySettings } from '../../functions/operations/canary/canary-settings.ts';

export interface CanaryStackProps {
  stage: Stage;
  row: CanaryRow;
  state: StateStack;
  service: ServiceStack;
  /** The folder of the canary's function, as `npm run build` writes it. */
  folder: string;
}

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
  constructor(scope: Construct, id: string, { stage, row, state, service, folder }: CanaryStackProps) {
    super(scope, id, stage, 'Computation management: canary');
    for (const fault of faultsOf(stage, row)) Annotations.of(this).addError(fault);
    const { credentials } = row;
    const secretArn = credentials ? this.arnOf(credentials) : this.newPassword(stage);
    const settings = settingsOf(row, { state, service, secretArn });
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
    this.acknowledgeFindings(canary);
    const rule = new Rule(this, 'Schedule', {
      description: 'Calls the canary',
      schedule: Schedule.rate(Duration.minutes(row.everyMinutes)),
      targets: [new FunctionTarget(canary, { maxEventAge: Duration.seconds(60), retryAttempts: 0 })],
    });
    acknowledge(rule, 'Serverless-EventBusDLQ', 'An alarm tells of a canary that does not run.');
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
    acknowledge(secret, 'AwsSolutions-SMG4', 'It opens one domain without data. The document says how to replace it.');
    return secret.secretArn;
  }

  /**
   * Returns a pattern for the ARN of an existing secret. Secrets Manager adds six characters to the name of a secret, so the
   * exact ARN is not known.
   */
  private arnOf({ secretName }: CanaryCredentials): string {
    const resourceName = `${secretName}-??????`;
    return this.formatArn({
      service: 'secretsmanager',
      resource: 'secret',
      resourceName,
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    });
  }

  private acknowledgeFindings(canary: LambdaFunction): void {
    const reason = 'An alarm tells of each failure, and the next call does the same work.';
    acknowledge(canary, 'Serverless-LambdaDLQ', reason);
    acknowledge(canary, 'Serverless-LambdaAsyncFailureDestination', reason);
    acknowledge(canary, 'Serverless-LambdaTracing', 'It calls the API as a user does. The service traces its own functions.');
  }
}

function settingsOf(
  { credentials }: CanaryRow,
  { state, service, secretArn }: Pick<CanaryStackProps, 'state' | 'service'> & { secretArn: string },
): CanarySettings {
  const shared = { apiUrl: service.apiUrl, issuer: state.issuer.url };
  if (credentials) {
    const { secretName: secretId, ...client } = credentials;
    return { ...shared, signIn: 'client credentials', secretId, ...client };
  }
  const { canaryClientId: clientId = '' } = state;
  return { ...shared, signIn: 'password', clientId, user: canaryUser, secretId: secretArn };
}

function faultsOf({ name, issuer, existing }: Stage, { everyMinutes, credentials, poolClientId }: CanaryRow): string[] {
  const faults: string[] = [];
  if (!Number.isInteger(everyMinutes) || everyMinutes < leastMinutes || everyMinutes > mostMinutes) {
    faults.push(
      `The canary of ${name} runs every ${everyMinutes} minutes. A call may take four minutes, and an alarm should not wait longer ` +
        `than two hours: choose a whole number from ${leastMinutes} to ${mostMinutes}.`,
    );
  }
  if (issuer && !credentials) {
    faults.push(`The canary of ${name} needs credentials of the stage's issuer: add them to its row in infra/stages/stages.ts.`);
  }
  if (!issuer && credentials) {
    faults.push(`The canary of ${name} has credentials of an issuer, but the stage has a user pool: remove them from its row.`);
  }
  if (existing?.userPool && poolClientId === undefined) {
    faults.push(
      `The canary of ${name} needs a client of the existing user pool: make one for it alone, and add it to its row in ` +
        'infra/stages/stages.ts as poolClientId (docs/deploy.md#the-canary).',
    );
  }
  if (!existing?.userPool && poolClientId !== undefined) {
    faults.push(`The canary of ${name} names a client of an existing user pool, but the stage has none: remove it from its row.`);
  }
  return faults;
}
