import type { Capacity, Json, PageAnswer, WireItem } from './wire.ts';
import { WireError } from './wire-error.ts';
import { post } from '../post.ts';

interface ItemAnswer {
  ConsumedCapacity?: Capacity;
}

interface Answers {
  GetItem: ItemAnswer & { Item?: WireItem };
  PutItem: ItemAnswer;
  UpdateItem: ItemAnswer;
  DeleteItem: ItemAnswer;
  Query: PageAnswer;
  Scan: PageAnswer;
  TransactWriteItems: Json;
  TransactGetItems: { Responses?: { Item?: WireItem }[] };
  BatchGetItem: { Responses?: Record<string, WireItem[]>; UnprocessedKeys?: Record<string, { Keys: WireItem[] }> };
  BatchWriteItem: Json;
  DescribeTable: { Table: { KeySchema: KeyElement[]; AttributeDefinitions: Json[] } };
  CreateTable: Json;
}

export interface KeyElement {
  AttributeName: string;
  KeyType: 'HASH' | 'RANGE';
}

/** The DynamoDB engine behind the front. Its error responses are thrown unchanged. */
export interface Engine {
  call: <Operation extends keyof Answers>(operation: Operation, request: object) => Promise<Answers[Operation]>;
  /** Any other operation. */
  forward: (operation: string, request: object) => Promise<Json>;
}

export function connectEngine(endpoint: string): Engine {
  const forward = async (operation: string, request: object): Promise<Json> => {
    const headers = {
      'content-type': 'application/x-amz-json-1.0',
      'x-amz-target': `DynamoDB_20120810.${operation}`,
      'x-amz-date': '20260101T000000Z',
      authorization: 'AWS4-HMAC-SHA256 Credential=local/20260101/local/dynamodb/aws4_request, SignedHeaders=host, Signature=none',
    };
    const { status, text } = await post(endpoint, headers, JSON.stringify(request));
    const body = JSON.parse(text) as Json;
    if (status >= 300) throw new WireError(status, body);
    return body;
  };
  return { forward, call: async (operation, request) => (await forward(operation, request)) as never };
}
