import { describe, expect, it, onTestFinished } from 'vitest';
import {
  addressOf,
  changedQuery,
  pageCount,
  pageOf,
  placeOf,
  tabOf,
  tabQuery,
} from '../../../../packages/console/routing/places.ts';
import {
  abandonWork,
  hasWork,
  holdWork,
  mayEndUpload,
  mayGo,
  mayLeave,
} from '../../../../packages/console/routing/unsaved-work.ts';

describe('places of the console', () => {
  it.each([
    ['/console/', { screen: 'home' }],
    ['/console', { screen: 'home' }],
    ['/console/domains/d1/computations', { screen: 'computations', domain: 'd1' }],
    ['/console/domains/d1/computations/', { screen: 'computations', domain: 'd1' }],
    ['/console/domains/d1/computations/new', { screen: 'new-computation', domain: 'd1' }],
    ['/console/domains/d1/computations/c1', { screen: 'computation', domain: 'd1', id: 'c1' }],
    ['/console/domains/d1/computations/c1/runs/r1', { screen: 'run', domain: 'd1', id: 'c1', run: 'r1' }],
    ['/console/domains/d1/cvms/a%2Fb%3A1', { screen: 'cvm', domain: 'd1', cvm: 'a/b:1' }],
  ])('%s is a deep link', (address, place) => {
    expect(placeOf(address)).toEqual(place);
  });

  it.each(['/console/elsewhere', '/console/domains/d1', '/console/domains/d1/computations/c1/runs', '/console/%E0%A4%A'])(
    '%s is no place',
    (address) => {
      expect(placeOf(address)).toBeUndefined();
    },
  );

  it('an address leads back to its place', () => {
    const place = { screen: 'cvm', domain: 'd1', cvm: 'cvm ä/1:2?' } as const;
    expect(placeOf(new URL(addressOf(place), 'https://example.com').pathname)).toEqual(place);
  });

  it('an address has the parameters that are given', () => {
    const place = { screen: 'computations', domain: 'd1' } as const;
    expect(addressOf(place, { status: 'failed', owner: '', page: 2, limit: undefined })).toBe(
      '/console/domains/d1/computations?status=failed&page=2',
    );
  });
});

const tabs = ['events', 'manifest'] as const;
const run = { screen: 'run', domain: 'd1', id: 'c1', run: 'r1' } as const;

describe('the tab of an address', () => {
  it.each([
    ['events', '/console/domains/d1/computations/c1/runs/r1'],
    ['manifest', '/console/domains/d1/computations/c1/runs/r1?tab=manifest'],
  ] as const)('%s is found by the address that leads to it', (tab, address) => {
    expect(addressOf(run, tabQuery(tab, tabs))).toBe(address);
    expect(tabOf(new URL(address, 'https://example.com').searchParams, tabs)).toBe(tab);
  });

  it('is the first one if the address names another', () => {
    expect(tabOf(new URLSearchParams('tab=elsewhere'), tabs)).toBe('events');
  });
});

const query = (text: string) => new URLSearchParams(text);

describe('the page in an address', () => {
  it.each([
    ['', { page: 1, limit: 25, offset: 0 }],
    ['page=3', { page: 3, limit: 25, offset: 50 }],
    ['page=1000&limit=100', { page: 1000, limit: 100, offset: 99_900 }],
    ['page=0&limit=7', { page: 1, limit: 25, offset: 0 }],
    ['page=-2', { page: 1, limit: 25, offset: 0 }],
    ['page=1e3', { page: 1, limit: 25, offset: 0 }],
    ['page=9999999999999', { page: 1, limit: 25, offset: 0 }],
  ])('"%s" is read', (text, page) => {
    expect(pageOf(query(text))).toEqual(page);
  });

  it.each([
    [0, 1],
    [1, 1],
    [100, 1],
    [101, 2],
    [100_000, 1_000],
  ])('%i rows make %i pages of 100', (total, pages) => {
    expect(pageCount(total, 100)).toBe(pages);
  });

  it('another page keeps the filters', () => {
    expect(changedQuery(query('status=failed&page=2'), { page: 3 })).toBe('?status=failed&page=3');
  });

  it('another filter begins at the first page', () => {
    expect(changedQuery(query('status=failed&page=7&limit=50'), { status: 'completed' })).toBe('?status=completed&limit=50');
  });

  it('the first page and no filter need no query', () => {
    expect(changedQuery(query('status=failed&page=2'), { status: undefined, page: 1 })).toBe('');
  });
});

describe('unsaved work', () => {
  it('is there until it ends, whatever else ends before', () => {
    const ends = [holdWork('form'), holdWork('form')];
    expect(hasWork()).toBe(true);
    ends[0]?.();
    ends[0]?.();
    expect(hasWork()).toBe(true);
    ends[1]?.();
    expect(hasWork()).toBe(false);
  });

  it('asks before an upload is left, and stays if the user says so', () => {
    onTestFinished(holdWork('upload'));
    const asked: string[] = [];
    const answer = (mayLeave: boolean) => (question: string) => {
      asked.push(question);
      return mayLeave;
    };
    expect(mayGo('/console/a', '/console/b', answer(false))).toBe(false);
    expect(mayGo('/console/a', '/console/b', answer(true))).toBe(true);
    expect(asked).toHaveLength(2);
    expect(asked[0]).toContain('cancels the upload');
  });

  it('asks before the page is left during an upload, and not again after the user agreed', () => {
    onTestFinished(holdWork('upload'));
    expect(mayLeave(() => false)).toBe(false);
    expect(hasWork('upload')).toBe(true);
    expect(mayLeave(() => true)).toBe(true);
    abandonWork();
    expect(mayLeave(() => expect.unreachable('It asked.'))).toBe(true);
  });

  it('asks before a form that is filled in is left, and once if it has an upload, too', () => {
    onTestFinished(holdWork('form'));
    const asked: string[] = [];
    const refuse = (question: string) => asked.push(question) < 0;
    expect(mayGo('/console/a', '/console/b', refuse)).toBe(false);
    expect(mayLeave(refuse)).toBe(false);
    expect(asked[1]).toContain('is not saved');
    onTestFinished(holdWork('upload'));
    expect(mayGo('/console/a', '/console/b', refuse)).toBe(false);
    expect(asked).toHaveLength(3);
    expect(asked[2]).toContain('cancels the upload');
  });

  it('asks nothing within the same path, while only a dialog is open, or of a form when the user signs in again', () => {
    const never = () => expect.unreachable('It asked.');
    onTestFinished(holdWork('open'));
    expect(mayGo('/console/a', '/console/b', never)).toBe(true);
    onTestFinished(holdWork('form'));
    expect(mayEndUpload(never)).toBe(true);
    onTestFinished(holdWork('upload'));
    expect(mayGo('/console/a', '/console/a', never)).toBe(true);
  });
});
