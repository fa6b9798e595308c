import * as v from 'valibot';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { conflict, ServiceError } from '../../../shared/runtime/errors.ts';
import { changeEndpoint, type ChangeRequest } from '../../../shared/http/change-endpoint.ts';
import { endpoint } from '../../../shared/http/endpoint.ts';
import type { HttpResponse } from '../../../shared/http/problem.ts';
import { commitChange, Transaction } from '../../../shared/table/transaction.ts';
import { startStores, type Stores } from '../../support/builders-store.ts';
import { setTestEnvironment } from '../../support/test-environment.ts';
import { systemClock } from '../../../shared/runtime/deadline.ts';

const thing = {
  path: '/{domainID}/things',
  summary: '',
  uses: {},
  impact: '',
  access: { anyOf: ['edit'] },
  response: v.object({ count: v.number() }),
} as const;
const post = { ...thing, name: 'things/post', method: 'POST' } as const;
const get = { ...thing, name: 'things/get', method: 'GET' } as const;

let stores: Stores;
beforeAll(async () => {
  stores = await startStores();
  setTestEnvironment(stores.endpoints);
});
afterAll(() => stores.stop());

function eventOf(key: string | undefined, roles = 'd1:editor') {
  return {
    headers: key === undefined ? {} : { 'idempotency-key': key },
    pathParameters: { domainID: 'd1' },
    isBase64Encoded: false,
    requestContext: {
      requestId: 'r-1',
      http: { method: 'POST' },
      authorizer: { jwt: { claims: { sub: 'alice', 'cognito:groups': roles } } },
    },
  };
}

type Handler = (event: never, context: never) => Promise<unknown>;

async function send(handler: Handler, key?: string) {
  const { statusCode, headers, body } = (await handler(eventOf(key) as never, {} as never)) as HttpResponse;
  return { statusCode, replayed: headers['idempotent-replayed'], body: JSON.parse(body) as Record<string, unknown> };
}

/** Makes an endpoint that counts the requests that changed something. */
function counter(before: () => void = () => undefined) {
  let count = 0;
  return changeEndpoint(post, {
    change: async ({ table, request: { answerKeeper } }) => {
      before();
      const result = await commitChange(table, new Transaction(), { count: count + 1 }, answerKeeper);
      count += 1;
      return result;
    },
    reply: ({ count }) => ({ body: { count } }),
  });
}

describe('changeEndpoint', () => {
  it('gives the kept answer instead of a refusal by the state that the first request left', async () => {
    let isDone = false;
    const handler = counter(() => {
      if (isDone) throw conflict('nothing_to_stop', 'Done.');
      isDone = true;
    });
    await send(handler, 'refused later');
    expect(await send(handler, 'refused later')).toMatchObject({ statusCode: 200, replayed: 'true' });
    expect(await send(handler, 'another')).toMatchObject({ statusCode: 409, body: { reason: 'nothing_to_stop' } });
  });

  it('answers a request that fails with 500, not with the answer kept before', async () => {
    let isBroken = false;
    const handler = counter(() => {
      if (isBroken) throw new ServiceError('internal', 'Broken.');
    });
    await send(handler, 'broken later');
    isBroken = true;
    expect(await send(handler, 'broken later')).toMatchObject({ statusCode: 500, replayed: undefined });
  });

  it('keeps nothing if the answer breaks the contract', async () => {
    let shown: unknown = 'no number';
    const handler = changeEndpoint(post, {
      change: ({ table, request: { answerKeeper } }) => commitChange(table, new Transaction(), {}, answerKeeper),
      reply: () => ({ body: { count: shown as number } }),
    });
    expect(await send(handler, 'broken')).toMatchObject({ statusCode: 500 });
    shown = 1;
    expect(await send(handler, 'broken')).toMatchObject({ statusCode: 200, replayed: undefined });
  });
});

describe('the type of an endpoint', () => {
  const reply = () => ({ body: { count: 1 } });

  const change = ({ table, request }: Pick<ChangeRequest<typeof post>, 'table' | 'request'>) =>
    commitChange(table, new Transaction(), {}, request.answerKeeper);

  it('has a change that ends with commitChange', () => {
    changeEndpoint(post, { change, reply });
    // @ts-expect-error The answer is not kept.
    changeEndpoint(post, { change: () => Promise.resolve({}), reply });
  });

  it('is `endpoint` for routes without a key, and `changeEndpoint` for the others', () => {
    endpoint(get, reply);
    endpoint({ ...post, takesKey: false }, reply);
    // @ts-expect-error A POST takes a key.
    endpoint(post, reply);
    // @ts-expect-error A GET takes no key.
    changeEndpoint(get, { change, reply });
  });

  it('refuses changes above the share of a user in the limit of their domain with 429, and sends the limit with every answer until then', async () => {
    vi.stubEnv('DOMAIN_CHANGES_PER_SECOND', '1');
    vi.stubEnv('DOMAIN_BURST', '6');
    const handler = counter();
    const answers: HttpResponse[] = [];
    const clock = { ...systemClock, now: () => Date.parse('2026-01-01T00:00:00Z') };
    for (let change = 0; change < 4; change++) {
      answers.push(await handler(eventOf(undefined) as never, { clock } as never));
    }
    vi.unstubAllEnvs();
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 429]);
    for (const { headers } of answers.slice(0, 3)) {
      expect(headers['ratelimit-policy']).toBe('"domain-changes";q=6;w=6');
      expect(headers['ratelimit']).toMatch(/^"domain-changes";r=\d;t=\d$/);
    }
    expect(answers[3]?.headers).toMatchObject({
      'ratelimit-policy': '"user-changes";q=3;w=6',
      ratelimit: expect.stringMatching(/^"user-changes";r=0;t=\d$/),
    });
    expect(answers[3]?.headers['retry-after']).toMatch(/^[1-9]$/);
    expect(JSON.parse(answers[3]?.body ?? '')).toMatchObject({ status: 429, code: 'too_many_requests', request_id: 'r-1' });
  });
});
