import { describe, expect, it } from 'vitest';
import { adaptTemplate } from './emulated-assembly.ts';

const allow = (Action: string | string[], Resource: unknown) => ({ Effect: 'Allow', Action, Resource });

describe('adaptTemplate', () => {
  it('returns a template unchanged if the emulator accepts it', () => {
    const Resources = {
      Alarm: { Type: 'AWS::CloudWatch::Alarm', Properties: { MetricName: 'Errors' } },
      Role: { Type: 'AWS::IAM::Role', Properties: { Statement: [allow('dynamodb:GetItem', 'table')] } },
    };
    expect(adaptTemplate({ Resources })).toEqual({ template: { Resources }, changes: [] });
  });

  it('removes alarms on computed metrics', () => {
    const { template, changes } = adaptTemplate({
      Resources: { Alarm: { Type: 'AWS::CloudWatch::Alarm', Properties: { Metrics: [{ Expression: 'a + b' }] } } },
    });
    expect(template.Resources).toEqual({});
    expect(changes).toHaveLength(1);
  });

  it.each([
    ['the budget', 'AWS::Budgets::Budget'],
    ['the check of the schema version', 'Custom::AWS'],
  ])('removes %s', (_what, Type) => {
    const { template, changes } = adaptTemplate({ Resources: { Removed: { Type } } });
    expect([template.Resources, changes.length]).toEqual([{}, 1]);
  });

  it('removes users of a user pool and their memberships, and keeps the pool', () => {
    const pool = { Type: 'AWS::Cognito::UserPool' };
    const user = { Type: 'AWS::Cognito::UserPoolUser' };
    const member = { Type: 'AWS::Cognito::UserPoolUserToGroupAttachment' };
    const { template, changes } = adaptTemplate({ Resources: { pool, user, member } });
    expect([template.Resources, changes.length]).toEqual([{ pool }, 1]);
  });

  it('writes out the ProviderURL of a user pool wherever it is used', () => {
    const { template } = adaptTemplate({
      Resources: { Api: { Type: 'Api', Properties: { Issuer: { 'Fn::GetAtt': ['Pool', 'ProviderURL'] } } } },
    });
    const address = ['https://cognito-idp.', { Ref: 'AWS::Region' }, '.amazonaws.com/', { Ref: 'Pool' }];
    expect(template.Resources['Api']?.Properties).toEqual({ Issuer: { 'Fn::Join': ['', address] } });
  });

  it('allows SendTask actions on every resource, and no other action', () => {
    const Statement = [allow(['states:StartExecution', 'states:SendTaskSuccess'], 'machine'), allow('dynamodb:GetItem', 'table')];
    const { template } = adaptTemplate({ Resources: { Role: { Type: 'AWS::IAM::Role', Properties: { Statement } } } });
    expect(template.Resources['Role']?.Properties).toEqual({
      Statement: [
        allow(['states:SendTaskSuccess'], '*'),
        allow(['states:StartExecution'], 'machine'),
        allow('dynamodb:GetItem', 'table'),
      ],
    });
  });

  it('allows the use of keys in any context, and keeps other conditions', () => {
    const statement = (Condition: object) => ({ ...allow('kms:Decrypt', 'key'), Condition });
    const ofContext = statement({ StringLike: { 'kms:EncryptionContext:computation': '*' } });
    const ofVpc = statement({ StringEquals: { 'aws:SourceVpc': 'vpc' } });
    const Resources = { Role: { Type: 'AWS::IAM::Role', Properties: { Statement: [ofContext, ofVpc] } } };
    const { template } = adaptTemplate({ Resources });
    expect(template.Resources['Role']?.Properties).toEqual({ Statement: [allow('kms:Decrypt', 'key'), ofVpc] });
  });
});
