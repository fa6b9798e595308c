import { describe, expect, it } from 'vitest';
import { CanaryStack } from '../../../infra/canary/canary-stack.ts';
import type { Stage } from '../../../infra/stages/stage.ts';
import {
  errorsBeside,
  findingsOf,
  flat,
  fullStage,
  ownStage,
  synthesize,
  type SynthesizedStage,
} from '../../support/synthesized-stages.ts';

interface FunctionProperties {
  FunctionName: string;
  Timeout: number;
  Environment: { Variables: Record<string, unknown> };
}

interface RoleProperties {
  Policies: { PolicyDocument: { Statement: { Action: string[] | string; Resource: unknown }[] } }[];
}

const canary = { everyMinutes: 15 };

function synthesized(stage: Stage): SynthesizedStage['stacks'] {
  const [found] = synthesize([stage]);
  if (!found) throw new Error('There is no stage.');
  return found.stacks;
}

function only<P>(found: Record<string, P> | undefined): P {
  const [one, ...others] = Object.values(found ?? {});
  if (one === undefined || others.length > 0) throw new Error('Expected exactly one.');
  return one;
}

const own = synthesized({ ...ownStage, canary });
const withIssuer = synthesized(fullStage);
const settingsOf = ({ canary }: SynthesizedStage['stacks']) =>
  flat(only(canary?.ofType<FunctionProperties>('AWS::Lambda::Function')).Environment.Variables['CANARY']);

describe('a stage without a canary', () => {
  const without = synthesized(ownStage);

  it('has no stack, user or alarm of one, and no client that takes a password as it is', () => {
    expect(without.canary).toBeUndefined();
    expect(without.state.ofType('AWS::Cognito::UserPoolUser')).toEqual({});
    expect(JSON.stringify(without.operations.resources)).not.toContain('canary');
    expect(JSON.stringify(without.state.resources)).not.toContain('ALLOW_USER_PASSWORD_AUTH');
  });

  it('can get one in any order: the state stack keeps its exports', () => {
    expect(own.state.exports).toEqual(expect.arrayContaining(without.state.exports));
  });
});

describe('the canary of a stage with a user pool', () => {
  it('has a user with the two roles in its own domain only', () => {
    expect(only(own.state.ofType('AWS::Cognito::UserPoolUser'))).toMatchObject({ Username: 'canary', MessageAction: 'SUPPRESS' });
    const members = Object.values(
      own.state.ofType<{ Username: string; GroupName: string }>('AWS::Cognito::UserPoolUserToGroupAttachment'),
    );
    expect(members.map(({ Username, GroupName }) => `${Username} ${GroupName}`).sort()).toEqual([
      'canary canary:administrator',
      'canary canary:cvm',
    ]);
  });

  it('signs in with the only client for plain passwords', () => {
    const clients = own.state.ofType<{ ExplicitAuthFlows: string[] }>('AWS::Cognito::UserPoolClient');
    const takesPasswords = Object.entries(clients).filter(([, client]) =>
      client.ExplicitAuthFlows.includes('ALLOW_USER_PASSWORD_AUTH'),
    );
    expect(Object.keys(clients)).toHaveLength(2);
    expect(takesPasswords).toHaveLength(1);
    const [[id, client] = []] = takesPasswords;
    expect(client).toMatchObject({
      ExplicitAuthFlows: ['ALLOW_USER_PASSWORD_AUTH', 'ALLOW_REFRESH_TOKEN_AUTH'],
      AllowedOAuthFlowsUserPoolClient: false,
      PreventUserExistenceErrors: 'ENABLED',
    });
    expect(settingsOf(own)).toContain(id);
    const [authorizer] = Object.values(
      own.service.ofType<{ JwtConfiguration: { Audience: unknown[] } }>('AWS::ApiGatewayV2::Authorizer'),
    );
    expect(authorizer?.JwtConfiguration.Audience.map(flat)).toEqual([expect.any(String), expect.stringContaining(String(id))]);
  });

  it('signs in with a password that is made by the deployment and fits the rules of the pool', () => {
    expect(only(own.canary?.ofType('AWS::SecretsManager::Secret'))).toMatchObject({
      Name: 'computations-dev-canary',
      GenerateSecretString: { PasswordLength: 32, RequireEachIncludedType: true },
    });
    expect(settingsOf(own)).toContain('"signIn":"password"');
    expect(settingsOf(own)).toContain('"user":"canary"');
  });

  it('may read its password and write its log, and nothing else', () => {
    const role = only(own.canary?.ofType<RoleProperties>('AWS::IAM::Role'));
    const allowed = role.Policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement).map(
      ({ Action, Resource }) => `${[Action].flat().join(',')} ${flat(Resource)}`,
    );
    expect(allowed).toEqual([
      expect.stringMatching(/^secretsmanager:GetSecretValue <Password\w+>$/),
      expect.stringMatching(/^logs:CreateLogStream,logs:PutLogEvents <Log\w+\.Arn>$/),
    ]);
  });

  it('runs in its interval, once at a time: a call ends before the next one, and is not repeated', () => {
    const rule = only(own.canary?.ofType<{ ScheduleExpression: string; Targets: object[] }>('AWS::Events::Rule'));
    expect(rule.ScheduleExpression).toBe('rate(15 minutes)');
    expect(rule.Targets).toMatchObject([{ RetryPolicy: { MaximumRetryAttempts: 0 } }]);
    expect(only(own.canary?.ofType<FunctionProperties>('AWS::Lambda::Function')).Timeout).toBeLessThan(5 * 60);
    expect(only(own.canary?.ofType('AWS::Lambda::EventInvokeConfig'))).toMatchObject({ MaximumRetryAttempts: 0 });
  });

  it('has an alarm for a call that fails, which lasts until the next one succeeds, and for two intervals without a call', () => {
    const alarms = Object.values(own.operations.ofType<Record<string, unknown>>('AWS::CloudWatch::Alarm'));
    const named = (name: string) => alarms.find(({ AlarmName }) => AlarmName === `computations-dev-${name}`);
    const metricOf = (name: string) => (named(name)?.['Metrics'] as { MetricStat: object }[])[0]?.MetricStat;
    const Dimensions = [{ Name: 'FunctionName', Value: 'computations-dev-canary' }];
    expect(named('canary-fails')).toMatchObject({ Threshold: 1, EvaluationPeriods: 1, TreatMissingData: 'notBreaching' });
    expect(metricOf('canary-fails')).toMatchObject({
      Metric: { MetricName: 'Errors', Dimensions },
      Period: 30 * 60,
      Stat: 'Sum',
    });
    expect(named('canary-silent')).toMatchObject({ Threshold: 1, EvaluationPeriods: 1, TreatMissingData: 'breaching' });
    expect(metricOf('canary-silent')).toMatchObject({ Metric: { MetricName: 'Invocations', Dimensions }, Period: 30 * 60 });
  });

  it('passes cdk-nag without findings', () => {
    expect(findingsOf({ ...ownStage, canary })).toEqual([]);
  });
});

describe('the canary of a stage with an issuer', () => {
  it('gets tokens by client credentials, with the secret that its row names', () => {
    expect(withIssuer.canary?.ofType('AWS::SecretsManager::Secret')).toEqual({});
    expect(JSON.parse(settingsOf(withIssuer))).toEqual({
      signIn: 'client credentials',
      apiUrl: 'https://api.example.com',
      issuer: 'https://login.example.com',
      clientId: 'canary',
      secretId: 'canary-client',
      scope: 'computations',
    });
    const role = only(withIssuer.canary?.ofType<RoleProperties>('AWS::IAM::Role'));
    expect(flat(role.Policies[0]?.PolicyDocument.Statement[0]?.Resource)).toMatch(/:secret:canary-client-\?{6}$/);
  });
});

const existing = { userPool: { id: 'eu-central-1_abc', clientId: 'client-1' } };

describe('the canary of a stage with an existing user pool', () => {
  it('signs in with the client that its row names, whose tokens the API accepts', () => {
    const adopting = synthesized({ ...ownStage, existing, canary: { ...canary, poolClientId: 'client-2' } });
    expect(JSON.parse(settingsOf(adopting))).toMatchObject({ signIn: 'password', clientId: 'client-2' });
    const [authorizer] = Object.values(adopting.service.ofType('AWS::ApiGatewayV2::Authorizer'));
    expect(authorizer).toMatchObject({ JwtConfiguration: { Audience: ['client-1', 'client-2'] } });
  });
});

describe('a row with a canary that cannot work', () => {
  const credentials = { clientId: 'canary', secretName: 'canary-client' };
  const rows: [fault: string, stage: Stage][] = [
    ['needs a client of the existing user pool', { ...ownStage, existing, canary }],
    ['a whole number from 5 to 60', { ...ownStage, canary: { everyMinutes: 4 } }],
    ["needs credentials of the stage's issuer", { ...fullStage, canary }],
    ['remove them from its row', { ...ownStage, canary: { ...canary, credentials } }],
    ['remove it from its row', { ...ownStage, canary: { ...canary, poolClientId: 'client-2' } }],
  ];

  it('fails at synth with what to do', () => {
    const stages = rows.map(([, stage]) => stage);
    const folder = import.meta.dirname;
    const errors = errorsBeside(stages, (scope, id, deployed) => {
      return new CanaryStack(scope, id, { ...deployed, folder, row: deployed.stage.canary ?? canary });
    });
    expect(errors).toEqual(rows.map(([fault]) => [expect.stringContaining(fault) as string]));
  });
});
