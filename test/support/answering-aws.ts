import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { listen, type Listening } from '../../local/machine/listen.ts';
import { Deadline } from '../../shared/runtime/deadline.ts';
import { startAnswering } from './answering-server.ts';
import { openKms } from '../../shared/runtime/clients.ts';

/** The operations of Cognito that `npm run domain` calls. */
type Input = { Username?: string; GroupName?: string } & Record<string, unknown>;

/** A failure as Cognito answers it. */
class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly code: string;

  constructor(code: string) {
    super(`The test answers ${code}.`);
    this.code = code;
  }
}

export interface AnsweringPool {
  endpoint: string;
  /** The groups of each user. */
  users: Map<string, Set<string>>;
  /** The names of users by other names that they may sign in with. */
  aliases: Map<string, string>;
  groups: Set<string>;
  signedOut: string[];
  /** Refuses to create another group beyond so many. */
  mostGroups: number;
  stop: () => Promise<void>;
}

/** Answers as a user pool of Cognito does, by its JSON protocol, with two entries a page. */
export async function startAnsweringPool(): Promise<AnsweringPool> {
  const users = new Map<string, Set<string>>();
  const groups = new Set<string>();
  const aliases = new Map<string, string>();
  const subs = new Map<string, string>();
  const state = { users, aliases, groups, signedOut: [] as string[], mostGroups: 10_000 };
  const groupsOf = ({ Username = '' }: Input): Set<string> => {
    const found = users.get(aliases.get(Username) ?? Username);
    if (!found) throw new Refusal('UserNotFoundException');
    return found;
  };
  const existing = ({ GroupName = '' }: Input): string => {
    if (!groups.has(GroupName)) throw new Refusal('ResourceNotFoundException');
    return GroupName;
  };
  const operations: Record<string, (input: Input) => object> = {
    AdminListGroupsForUser: (input) => paged(input, 'Groups', [...groupsOf(input)].map(toGroup)),
    ListGroups: (input) => paged(input, 'Groups', [...groups].map(toGroup)),
    ListUsersInGroup: (input) => {
      const group = existing(input);
      const members = [...users].filter(([, held]) => held.has(group)).map(([Username]) => ({ Username }));
      return paged(input, 'Users', members);
    },
    AdminCreateUser: ({ Username = '' }) => {
      users.set(Username, new Set());
      subs.set(Username, randomUUID());
      return { User: { Username, Attributes: [{ Name: 'sub', Value: subs.get(Username) }] } };
    },
    AdminGetUser: (input) => {
      groupsOf(input);
      const { Username = '' } = input;
      return { Username, UserAttributes: [{ Name: 'sub', Value: subs.get(aliases.get(Username) ?? Username) }] };
    },
    AdminDeleteUser: (input) => {
      groupsOf(input);
      users.delete(input.Username ?? '');
      return {};
    },
    AdminUserGlobalSignOut: ({ Username = '' }) => {
      state.signedOut.push(Username);
      return {};
    },
    CreateGroup: ({ GroupName = '' }) => {
      if (groups.has(GroupName)) throw new Refusal('GroupExistsException');
      if (groups.size >= state.mostGroups) throw new Refusal('LimitExceededException');
      groups.add(GroupName);
      return {};
    },
    DeleteGroup: (input) => {
      const group = existing(input);
      groups.delete(group);
      for (const held of users.values()) held.delete(group);
      return {};
    },
    AdminAddUserToGroup: (input) => {
      groupsOf(input).add(existing(input));
      return {};
    },
    AdminRemoveUserFromGroup: (input) => {
      groupsOf(input).delete(existing(input));
      return {};
    },
  };
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const operation = String(request.headers['x-amz-target']).split('.')[1] ?? '';
      response.setHeader('content-type', 'application/x-amz-json-1.1');
      try {
        response.end(JSON.stringify(operations[operation]?.(JSON.parse(body) as Input)));
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        response.writeHead(400).end(JSON.stringify({ __type: error.code, message: error.message }));
      }
    });
  });
  return Object.assign(state, await listen(server, 0));
}

const toGroup = (GroupName: string) => ({ GroupName });

function paged(input: Input, name: string, entries: object[]): object {
  const start = Number(input['NextToken'] ?? 0);
  const end = start + 2;
  return { [name]: entries.slice(start, end), ...(end < entries.length ? { NextToken: String(end) } : {}) };
}

/** Answers as CloudFormation does: every stack has these outputs. */
export async function startAnsweringStacks(outputs: () => Record<string, string>): ReturnType<typeof startAnswering> {
  return await startAnswering(() => {
    const members = Object.entries(outputs()).map(
      ([key, value]) => `<member><OutputKey>${key}</OutputKey><OutputValue>${value}</OutputValue></member>`,
    );
    const described = `<StackName>s</StackName><StackStatus>UPDATE_COMPLETE</StackStatus><Outputs>${members.join('')}</Outputs>`;
    return `<DescribeStacksResponse><DescribeStacksResult><Stacks><member>${described}</member></Stacks></DescribeStacksResult></DescribeStacksResponse>`;
  });
}

interface KmsRequest {
  SigningAlgorithm?: string;
  KeyId: string;
  Message?: string;
  CiphertextBlob?: string;
  EncryptionContext?: Record<string, string>;
}

/** Serves the keys of this process as KMS does (AWS JSON 1.1), to other processes and to bundles, which have a client of KMS. */
export async function serveKms(): Promise<Listening> {
  return await listen(
    createServer((request, response) => void answer(request, response)),
    0,
  );
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const send = (status: number, body: object) =>
    response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' }).end(JSON.stringify(body));
  try {
    const operation = String(request.headers['x-amz-target']).replace('TrentService.', '');
    send(200, await resultOf(operation, JSON.parse(await text(request)) as KmsRequest));
  } catch (error) {
    const { name, message } = error as Error;
    send(400, { __type: name, message });
  }
}

async function resultOf(operation: string, request: KmsRequest): Promise<object> {
  const kms = openKms(() => new Deadline());
  const { KeyId, SigningAlgorithm, Message = '', CiphertextBlob = '', EncryptionContext = {} } = request;
  switch (operation) {
    case 'GetPublicKey':
      return { KeyId, PublicKey: base64(await kms.publicKey(KeyId)) };
    case 'Sign': {
      const sign = SigningAlgorithm === 'ED25519_SHA_512' ? kms.signEd25519 : kms.sign;
      return { KeyId, Signature: base64(await sign(KeyId, Buffer.from(Message, 'base64'))) };
    }
    case 'GenerateDataKey': {
      const { plain, encrypted } = await kms.newDataKey(KeyId, EncryptionContext);
      return { KeyId, Plaintext: base64(plain), CiphertextBlob: base64(encrypted) };
    }
    case 'Decrypt':
      return { KeyId, Plaintext: base64(await kms.openDataKey(KeyId, Buffer.from(CiphertextBlob, 'base64'), EncryptionContext)) };
    default:
      throw new TypeError(`${operation} is not supported.`);
  }
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}
