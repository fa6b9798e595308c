import { DescribeTimeToLiveCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTable, startDynamoDb, type LocalDynamoDb } from '../../../local/dynamodb/dynamodb.ts';
import { localCredentials } from '../../../local/machine/environment.ts';
import { tableDefinition } from '../../../shared/table/table.ts';

let engine: LocalDynamoDb;
let client: DynamoDBClient;

beforeAll(async () => {
  engine = await startDynamoDb();
  client = new DynamoDBClient({ endpoint: engine.endpoint, region: 'local', credentials: localCredentials });
});
afterAll(async () => {
  client.destroy();
  await engine.stop();
});

describe('createTable', () => {
  it('enables expiry on the same attribute as on AWS, and can be repeated for the same table', async () => {
    await createTable(engine.endpoint, 'service');
    await createTable(engine.endpoint, 'service');
    const { TimeToLiveDescription } = await client.send(new DescribeTimeToLiveCommand({ TableName: 'service' }));
    expect(TimeToLiveDescription).toEqual({ AttributeName: tableDefinition.timeToLive, TimeToLiveStatus: 'ENABLED' });
  });
});
