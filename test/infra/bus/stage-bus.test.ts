import { describe, expect, it } from 'vitest';
import { busEventTemplate, journalFilter } from '../../../infra/bus/bus-event.ts';
import type { Stage } from '../../../infra/stages/stage.ts';
import { StateStack } from '../../../infra/state/state-stack.ts';
import {
  annotated,
  findingsOf,
  flat,
  inApp,
  ownStage,
  synthesize,
  type SynthesizedStage,
} from '../../support/synthesized-stages.ts';

interface PipeProperties {
  Name: string;
  Source: unknown;
  SourceParameters: {
    FilterCriteria: { Filters: { Pattern: string }[] };
    DynamoDBStreamParameters: Record<string, unknown> & { DeadLetterConfig: { Arn: unknown } };
  };
  Target: unknown;
  TargetParameters: { InputTemplate: string; EventBridgeEventBusParameters: object };
}

const tableName = 'computations-restored';
const tableStreamArn = `arn:aws:dynamodb:eu-central-1:111122223333:table/${tableName}/stream/2026-11-22T00:00:00.000`;

function synthesized(change: Partial<Stage> = {}): SynthesizedStage['stacks'] {
  const [stage] = synthesize([{ ...ownStage, ...change }]);
  if (!stage) throw new Error('There is no stage.');
  return stage.stacks;
}

function pipeOf({ state }: SynthesizedStage['stacks']): PipeProperties {
  const [pipe, ...others] = Object.values(state.ofType<PipeProperties>('AWS::Pipes::Pipe'));
  if (!pipe || others.length > 0) throw new Error('Expected one pipe.');
  return pipe;
}

const without = synthesized();
const withBus = synthesized({ eventBus: true });

describe('a stage without an event bus', () => {
  it('has neither a bus nor a pipe', () => {
    for (const type of ['AWS::Events::EventBus', 'AWS::Pipes::Pipe']) expect(without.state.ofType(type)).toEqual({});
  });
});

describe('a stage with an event bus', () => {
  it('enables the stream of its table and changes no other property of it', () => {
    const tables = [without, withBus].map(({ state }) => state.ofType<object>('AWS::DynamoDB::GlobalTable'));
    const [[[idBefore, before] = []] = [], [[id, after] = []] = []] = tables.map((found) => Object.entries(found));
    expect(id).toBe(idBefore);
    expect(after).toEqual({ ...before, StreamSpecification: { StreamViewType: 'NEW_IMAGE' } });
  });

  it('changes nothing else of the state stack, and nothing that other stacks import', () => {
    const ids = Object.keys(withBus.state.resources);
    expect(ids).toEqual(expect.arrayContaining(Object.keys(without.state.resources)));
    expect(withBus.state.exports).toEqual(without.state.exports);
    expect(withBus.service.resources).toEqual(without.service.resources);
  });

  it('leads the stream to the bus with the filter and the template, without a function', () => {
    const [table] = Object.keys(withBus.state.ofType('AWS::DynamoDB::GlobalTable'));
    const [bus] = Object.keys(withBus.state.ofType('AWS::Events::EventBus'));
    const pipe = pipeOf(withBus);
    expect(flat(pipe.Source)).toBe(`<${table}.StreamArn>`);
    expect(flat(pipe.Target)).toBe(`<${bus}.Arn>`);
    expect(pipe.SourceParameters.FilterCriteria.Filters.map(({ Pattern }) => JSON.parse(Pattern) as unknown)).toEqual([
      journalFilter,
    ]);
    expect(pipe.TargetParameters).toEqual({
      InputTemplate: busEventTemplate,
      EventBridgeEventBusParameters: { Source: 'computation-management', DetailType: 'Computation event' },
    });
    expect(pipe).not.toHaveProperty('Enrichment');
    expect(withBus.state.ofType('AWS::Lambda::Function')).toEqual(without.state.ofType('AWS::Lambda::Function'));
  });

  it('begins at the oldest record, retries for 12 hours, and then keeps the positions of undelivered records in a queue', () => {
    const [queue = ''] = Object.keys(withBus.state.ofType('AWS::SQS::Queue'));
    const { DeadLetterConfig, ...parameters } = pipeOf(withBus).SourceParameters.DynamoDBStreamParameters;
    expect(flat(DeadLetterConfig.Arn)).toBe(`<${queue}.Arn>`);
    expect(parameters).toEqual({
      StartingPosition: 'TRIM_HORIZON',
      BatchSize: 10,
      MaximumRecordAgeInSeconds: 43_200,
      MaximumRetryAttempts: -1,
      OnPartialBatchItemFailure: 'AUTOMATIC_BISECT',
    });
    expect(withBus.state.ofType('AWS::SQS::Queue')[queue]).toMatchObject({
      QueueName: 'computations-dev-undelivered-events',
      SqsManagedSseEnabled: true,
      MessageRetentionPeriod: 14 * 86_400,
    });
  });

  it('lets the pipe read the stream, put events on this bus and write to this queue, and nothing else', () => {
    const roles = Object.entries(
      withBus.state.ofType<{
        AssumeRolePolicyDocument: { Statement: { Principal: object; Condition: object }[] };
        Policies: { PolicyDocument: { Statement: { Action: string[] | string; Resource: unknown }[] } }[];
      }>('AWS::IAM::Role'),
    ).filter(([id]) => id.startsWith('EventBus'));
    expect(roles).toHaveLength(1);
    const [[, role] = []] = roles;
    expect(role?.AssumeRolePolicyDocument.Statement).toMatchObject([
      {
        Principal: { Service: 'pipes.amazonaws.com' },
        Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
      },
    ]);
    const statements = role?.Policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement) ?? [];
    const allowed = statements.map(({ Action, Resource }) => `${[Action].flat().join(',')} ${flat(Resource)}`);
    expect(allowed).toEqual([
      expect.stringMatching(
        /^dynamodb:DescribeStream,dynamodb:GetRecords,dynamodb:GetShardIterator,dynamodb:ListStreams <Table\w+\.StreamArn>$/,
      ),
      expect.stringMatching(/^events:PutEvents <EventBus\w+\.Arn>$/),
      expect.stringMatching(/^sqs:SendMessage <EventBus\w+\.Arn>$/),
    ]);
  });

  it('has alarms for a pipe that fails and for events that were not delivered', () => {
    const alarms = Object.values(withBus.operations.ofType<{ AlarmName: string }>('AWS::CloudWatch::Alarm'));
    const text = (name: string) => JSON.stringify(alarms.find(({ AlarmName }) => AlarmName === name));
    for (const metric of ['ExecutionFailed', 'ExecutionTimeout', 'ExecutionThrottled']) {
      expect(text('computations-dev-events-failing')).toContain(`"MetricName":"${metric}","Namespace":"AWS/EventBridge/Pipes"`);
    }
    expect(text('computations-dev-events-failing')).toContain('"Name":"PipeName","Value":"computations-dev-events"');
    expect(text('computations-dev-events-undelivered')).toContain('computations-dev-undelivered-events');
  });

  it('names the bus, its ARN, the stream and the queue in its outputs', () => {
    expect(withBus.state.outputs).toEqual(
      expect.arrayContaining(['EventBusName', 'EventBusArn', 'TableStreamArn', 'UndeliveredEventsUrl']),
    );
  });

  it('passes cdk-nag without findings', () => {
    expect(findingsOf({ ...ownStage, eventBus: true })).toEqual([]);
  });
});

describe('a stage with an event bus and an existing table', () => {
  it('reads the stream that its row names, with a pipe of another name, because CloudFormation replaces it', () => {
    const adopting = pipeOf(synthesized({ eventBus: true, existing: { tableName, tableStreamArn } }));
    expect(adopting.Source).toBe(tableStreamArn);
    expect(adopting.Name).toMatch(/^computations-dev-events-[0-9a-f]{8}$/);
    expect(pipeOf(withBus).Name).toBe('computations-dev-events');
  });

  const errorsOf = (row: Partial<Stage>) =>
    inApp((app) => annotated('error', new StateStack(app, 'State', { ...ownStage, ...row }, undefined)));

  it('fails at synth with what to do if its row names no stream of that table', () => {
    const eventBus = true;
    expect(errorsOf({ eventBus, existing: { tableName } })).toEqual([
      'The stage dev has the existing table computations-restored, but names no stream of it. Switch its stream on with ' +
        'new images, and write its ARN into existing.tableStreamArn of the stage in infra/stages/stages.ts (docs/events.md#an-existing-table).',
    ]);
    expect(errorsOf({ eventBus, existing: { tableName: 'another', tableStreamArn } })).toHaveLength(1);
    expect(errorsOf({ eventBus, existing: { tableName, tableStreamArn } })).toEqual([]);
  });

  it('needs the stream without a bus too, which tells which lists to fold', () => {
    expect(errorsOf({ existing: { tableName } })).toHaveLength(1);
  });
});
