import { describe, expect, it } from 'vitest';
import { changedQuery, pageCount, pageOf } from '../../../../packages/console/lists/use-page.ts';

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
