import { describe, expect, it, onTestFinished } from 'vitest';
import {
  abandonWork,
  hasWork,
  holdWork,
  mayEndUpload,
  mayGo,
  mayLeave,
} from '../../../../packages/console/routing/unsaved-work.ts';

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
