import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ServiceProblem } from '../../../../packages/client/index.ts';
import { sendToStorage, storageAnswer } from '../../../../packages/client/transfer/send-to-storage.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const first = link('first');
const broken = 0;

/** Sends to a storage that answers by these statuses, one after the other. */
async function sendTo(
  statuses: number[],
  {
    begin = [first],
    renewed = [link('second')],
    renewals = [],
    minutes = 0,
    grows = false,
    body = '',
  }: {
    begin?: (typeof first)[];
    renewed?: (typeof first)[];
    /** The statuses with which the service fails to give a new link at first. */
    renewals?: number[];
    /** The minutes that an attempt takes. */
    minutes?: number;
    /** Tells whether each attempt comes further than the one before. */
    grows?: boolean;
    /** The body of each answer of storage. */
    body?: string;
  } = {},
) {
  const urls: string[] = [];
  let [interruptions, asked] = [0, 0];
  let problem: unknown;
  const put = async ({ url }: { url: string }) => {
    const status = statuses[urls.length] ?? broken;
    urls.push(url);
    await new Promise((resolve) => setTimeout(resolve, minutes * 60_000));
    if (status !== broken) return { status, body };
    throw new ServiceProblem({ status: 0, code: 'unreachable', detail: 'It broke.', request: 'PUT storage' });
  };
  const sent = sendToStorage(begin[0], {
    put,
    furthest: () => (grows ? urls.length : 0),
    renew: async () => {
      const status = renewals[asked++];
      if (status === undefined) return renewed[0];
      throw new ServiceProblem({ status, code: 'unexpected', detail: 'No link.', request: 'PUT /d1/assets' });
    },
    onCut: () => interruptions++,
  }).catch((error: unknown) => (problem = error));
  await vi.runAllTimersAsync();
  await sent;
  return { urls, interruptions, problem };
}

describe('sending content to storage', () => {
  it.each([200, 204])('has arrived with status %i', async (status) => {
    expect(await sendTo([status])).toEqual({ urls: ['first'], interruptions: 0, problem: undefined });
  });

  it('has arrived if storage has the content of an attempt whose answer was lost (412)', async () => {
    expect(await sendTo([broken, 412])).toEqual({ urls: ['first', 'first'], interruptions: 1, problem: undefined });
  });

  it.each([broken, 409, 429, 500, 503])('is repeated after status %i', async (status) => {
    expect(await sendTo([status, status, 200])).toEqual({
      urls: ['first', 'first', 'first'],
      interruptions: 2,
      problem: undefined,
    });
  });

  it('goes on with a new link if the link has expired', async () => {
    expect(await sendTo([403, 200])).toEqual({ urls: ['first', 'second'], interruptions: 1, problem: undefined });
  });

  it('has arrived if there is no new link', async () => {
    expect(await sendTo([403], { renewed: [] })).toMatchObject({ urls: ['first'], problem: undefined });
  });

  it.each([0, 429, 500, 503])('waits for a new link while the service cannot give one (status %i)', async (status) => {
    expect(await sendTo([403, 200], { renewals: [status, status] })).toEqual({
      urls: ['first', 'second'],
      interruptions: 3,
      problem: undefined,
    });
  });

  it('fails if the service refuses a new link, or storage refuses it', async () => {
    expect(await sendTo([403], { renewals: [404] })).toMatchObject({ urls: ['first'], problem: { detail: 'No link.' } });
    const body = '<Error><Code>AccessDenied</Code></Error>';
    expect(await sendTo([403, 403], { body })).toMatchObject({
      urls: ['first', 'second'],
      problem: { detail: 'Storage refused the file with the status 403 (AccessDenied).' },
    });
  });

  it('begins with a new link if it has none', async () => {
    expect(await sendTo([200], { begin: [] })).toMatchObject({ urls: ['second'], problem: undefined });
  });

  it('is repeated if storage says that the content arrived too slowly', async () => {
    const body = '<Error><Code>RequestTimeout</Code></Error>';
    expect(await sendTo([400, 200], { body })).toMatchObject({ urls: ['first', 'first'], problem: undefined });
  });

  it.each([
    ['', 'Storage refused the file with the status 400.'],
    ['<Error><Code>BadDigest</Code></Error>', 'Storage refused the file with the status 400 (BadDigest).'],
  ])('fails at once with a status that will stay, and says the reason if storage names one (%s)', async (body, detail) => {
    expect(await sendTo([400], { body })).toMatchObject({ urls: ['first'], problem: { code: 'unexpected', detail } });
  });

  it.each([
    { minutes: 0.5, attempts: 9 },
    { minutes: 30, attempts: 5 },
  ])(
    'fails after $attempts attempts of $minutes minutes: when five attempts and five minutes since the first failure brought nothing',
    async ({ minutes, attempts }) => {
      expect(await sendTo([], { minutes })).toMatchObject({
        urls: { length: attempts },
        interruptions: attempts - 1,
        problem: { code: 'unreachable' },
      });
    },
  );

  it('keeps retrying for hours while each attempt transfers more than the one before', async () => {
    const cuts = Array.from({ length: 50 }, () => broken);
    const { urls, problem } = await sendTo([...cuts, 200], { minutes: 10, grows: true });
    expect(problem).toBeUndefined();
    expect(urls).toHaveLength(51);
  });
});

function link(url: string) {
  return { method: 'PUT' as const, url, headers: {}, expires_at: '2026-01-01T00:00:00Z' };
}

it.each([
  [200, 'arrived'],
  [204, 'arrived'],
  [412, 'arrived'],
  [403, 'expired'],
  [408, 'again'],
  [409, 'again'],
  [429, 'again'],
  [500, 'again'],
  [503, 'again'],
  [301, 'refused'],
  [400, 'refused'],
  [404, 'refused'],
] as const)('the answer %i of storage to an upload means %s', (status, answer) => {
  expect(storageAnswer(status, '')).toBe(answer);
});

it('the answer 400 of storage means again if the content arrived too slowly', () => {
  const body = '<?xml version="1.0"?><Error><Code>RequestTimeout</Code><Message>Idle.</Message></Error>';
  expect(storageAnswer(400, body)).toBe('again');
  expect(storageAnswer(400, body.replace('RequestTimeout', 'EntityTooLarge'))).toBe('refused');
});
