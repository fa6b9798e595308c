import { ServiceProblem } from 'computation-management-client';
import { describe, expect, it } from 'vitest';
import { partiesOf } from '../../../../packages/console/loading/overview.ts';
import { fieldErrors, problemText } from '../../../../packages/console/loading/problem-text.ts';
import { keysForBodies } from '../../../../packages/console/loading/use-action.ts';

const nothing = { keys: [], hashes: [], info: [] };
const noApprovals = { needed: [], approvals: [], refusals: [] };
const computation: Parameters<typeof partiesOf>[0]['computation'] = {
  parties: [
    { user: 'alice', parts: ['owner', 'consumer'], invited: false },
    { user: 'dana', parts: ['provider'], invited: false },
    { user: 'bob', parts: ['provider'], invited: false },
    { user: 'carol', parts: ['consumer'], invited: true },
  ],
};
const inputs = [
  { file_name: 'sizes.py', asset_type: 'algorithm' as const, created_by: 'dana', state: 'ready' as const },
  { file_name: 'penguins.csv', asset_type: 'dataset' as const, created_by: 'bob', state: 'pending' as const },
];
const approval = (user: string, fields: { stale?: boolean; signed?: boolean } = {}) => ({
  user,
  digest: '',
  configuration_digest: '',
  cvm_ids: null,
  expires_at: null,
  max_runs: null,
  used_runs: null,
  approval_id: null,
  journal_head: null,
  signed: false,
  stale: false,
  stale_because: null,
  approved_at: '',
  ...fields,
});

const owesOf = (given: Partial<Parameters<typeof partiesOf>[0]>) => {
  const { parties, others } = partiesOf({ computation, inputs, missing: nothing, approvals: noApprovals, ...given });
  return {
    owes: Object.fromEntries(parties.map(({ user, owes }) => [user, owes.map(({ kind, files }) => [kind, ...files].join(' '))])),
    others: others.map(({ sentence }) => sentence),
  };
};

describe('the parties of a computation', () => {
  it('are the owner, the creators of its inputs with their files, and those whom it only names', () => {
    const { parties } = partiesOf({ computation, inputs, missing: nothing, approvals: noApprovals });
    const nothingOwed = { owes: [], refusal: undefined };
    expect(parties).toEqual([
      { user: 'alice', parts: ['owner', 'consumer'], isInvited: false, files: [], ...nothingOwed },
      {
        user: 'dana',
        parts: ['provider'],
        isInvited: false,
        files: [{ asset_type: 'algorithm', file_name: 'sizes.py' }],
        ...nothingOwed,
      },
      {
        user: 'bob',
        parts: ['provider'],
        isInvited: false,
        files: [{ asset_type: 'dataset', file_name: 'penguins.csv' }],
        ...nothingOwed,
      },
      { user: 'carol', parts: ['consumer'], isInvited: true, files: [], ...nothingOwed },
    ]);
  });

  it('owe keys and content, each by name', () => {
    const missing = { keys: ['alice', 'erin'], hashes: ['penguins.csv'], info: ['Missing algorithm'] };
    expect(owesOf({ missing })).toEqual({
      owes: { alice: ['key'], dana: [], bob: ['content penguins.csv'], carol: [], erin: ['key'] },
      others: ['An algorithm'],
    });
  });

  it('content whose creator is unknown is owed by nobody in particular', () => {
    const unknown = [{ file_name: 'penguins.csv', asset_type: 'dataset' as const }];
    expect(owesOf({ inputs: unknown, missing: { ...nothing, hashes: ['penguins.csv'] } })).toEqual({
      owes: { alice: [], dana: [], bob: [], carol: [] },
      others: [],
    });
  });

  it('owe approvals that are not given or stale, once each and not as a sentence too', () => {
    const approvals = {
      needed: [
        { user: 'dana', because: ['sizes.py'] },
        { user: 'bob', because: ['penguins.csv'] },
        { user: 'carol', because: ['result consumer'] },
      ],
      approvals: [approval('dana'), approval('bob', { stale: true })],
      refusals: [],
    };
    const missing = { ...nothing, info: ['Approval of bob for penguins.csv', 'Approval of carol as result consumer'] };
    expect(owesOf({ approvals, missing })).toEqual({
      owes: { alice: [], dana: [], bob: ['approval penguins.csv'], carol: ['approval'] },
      others: [],
    });
  });

  it('owe a signed approval where the computation demands signatures, because the service calls others stale', () => {
    const approvals = {
      needed: [
        { user: 'dana', because: ['sizes.py'] },
        { user: 'bob', because: ['penguins.csv'] },
      ],
      approvals: [approval('dana', { stale: true }), approval('bob', { signed: true })],
      refusals: [],
    };
    const { owes } = owesOf({ approvals });
    expect(owes).toMatchObject({ dana: ['approval sizes.py'], bob: [] });
  });
});

it('a form that is sent again has the same Idempotency-Key, and another one after it was changed', () => {
  const keyFor = keysForBodies();
  const first = keyFor({ name: 'a' });
  expect(first).toMatch(/^[0-9a-f]{32}$/);
  expect(keyFor({ name: 'a' })).toBe(first);
  expect(keyFor({ name: 'b' })).not.toBe(first);
  expect(keysForBodies()({ name: 'a' })).not.toBe(first);
});

const invalid = new ServiceProblem({
  status: 400,
  code: 'invalid_request',
  detail: 'The body does not fit.',
  requestId: 'r-1',
  request: 'POST /d1/computations',
  errors: [
    { pointer: '/name', detail: 'Required' },
    { pointer: '/consumers/3', detail: 'Too long' },
    { pointer: '', detail: 'Expected an object' },
  ],
});

function problemAt(errors: ServiceProblem['errors'], detail: string): ServiceProblem {
  return new ServiceProblem({ status: 400, code: 'invalid_request', detail, request: '', errors });
}

describe('what a user reads about a problem', () => {
  it('has a title, the detail, each place and the request', () => {
    expect(problemText(invalid)).toEqual({
      title: 'The request is not valid',
      detail: 'The body does not fit.',
      points: ['/name: Required', '/consumers/3: Too long', 'The body: Expected an object'],
      requestId: 'r-1',
    });
  });

  it('does not repeat the detail for its only place', () => {
    const errors = [{ pointer: '/signature', detail: 'Expected a signature.' }];
    const problem = problemAt(errors, 'Expected a signature.');
    expect(problemText(problem).points).toEqual([]);
    const withPlace = problemAt(errors, '/signature: Expected a signature.');
    expect(problemText(withPlace).points).toEqual([]);
    const alike = problemAt([...errors, { pointer: '/key', detail: 'Expected a signature.' }], withPlace.detail);
    expect(problemText(alike).points).toEqual(['/key: Expected a signature.']);
  });

  it('has no place whose error is shown at a field', () => {
    const problem = problemAt(invalid.errors, '/name: Required');
    expect(problemText(problem, ['/name', '/consumers'])).toMatchObject({
      detail: 'Correct the fields that are marked.',
      points: ['The body: Expected an object'],
    });
    expect(problemText(problem, ['/consumers'])).toMatchObject({
      detail: '/name: Required.',
      points: ['The body: Expected an object'],
    });
  });

  it.each([
    ['No answer from https://api.example.com: Failed to fetch', 'No answer from https://api.example.com: Failed to fetch.'],
    ['Try again.', 'Try again.'],
  ])('ends with a full stop: %s', (given, detail) => {
    expect(problemText(new ServiceProblem({ status: 0, code: 'unreachable', detail: given, request: '' }))).toMatchObject({
      detail,
    });
  });

  it('has every missing item', () => {
    const missing_items = { keys: ['alice'], hashes: ['penguins.csv'], info: ['Missing algorithm'] };
    const problem = new ServiceProblem({ status: 422, code: 'incomplete', detail: 'Not yet.', request: '', missing_items });
    expect(problemText(problem).points).toEqual(['The public key of alice', 'The content of penguins.csv', 'An algorithm']);
  });

  it('says that the service does not answer', () => {
    const problem = new ServiceProblem({ status: 0, code: 'unreachable', detail: 'fetch failed', request: '' });
    expect(problemText(problem)).toMatchObject({
      title: 'No service answers',
      advice: 'Check your connection, then try again.',
    });
  });

  it('warns of what signing in again loses if the sign-in has expired', () => {
    const problem = new ServiceProblem({ status: 401, code: 'unauthenticated', detail: 'It has expired.', request: '' });
    expect(problemText(problem).advice).toBe('Keep a copy of what you have typed: signing in again loses it.');
  });

  it.each([
    ['r-1', 'Try again. If it happens again, send the request identifier below to the operator of the service.'],
    [undefined, 'Try again. If it happens again, tell the operator of the service.'],
  ])('speaks of the request only if it is shown (%s)', (requestId, advice) => {
    const problem = new ServiceProblem({ status: 500, code: 'internal', detail: 'It broke.', request: '', requestId });
    expect(problemText(problem)).toMatchObject({ advice, requestId });
  });

  it.each([new TypeError('broken'), 'broken'])('is the message of any other error', (error) => {
    expect(problemText(error)).toMatchObject({ title: 'Something went wrong', detail: 'broken.', points: [] });
  });
});

describe('the error of a field', () => {
  it('is found by its pointer, also that of an entry of a list, which it numbers', () => {
    const errors = fieldErrors(invalid, ['/name', '/consumers']);
    expect(errors.at('/name')).toBe('Required');
    expect(errors.at('/consumers')).toBe('Entry 4: Too long');
    // @ts-expect-error a place that is not among the fields would be shown twice
    errors.at('/description');
  });

  it('is none where the service named none', () => {
    expect(fieldErrors(invalid, ['/owner']).at('/owner')).toBeUndefined();
    expect(fieldErrors(new Error('x'), ['/name']).at('/name')).toBeUndefined();
    expect(fieldErrors(undefined, ['/name']).at('/name')).toBeUndefined();
  });
});
