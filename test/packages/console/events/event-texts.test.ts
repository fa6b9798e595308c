import { fieldsText } from 'computation-management-words';
import { describe, expect, it } from 'vitest';
import { detailsOf, eventMark, eventText } from '../../../../packages/console/events/event-texts.ts';

const base64 = (text: string | Buffer) => Buffer.from(text).toString('base64');

describe('details of an event', () => {
  it.each([
    ['', ''],
    [base64('{}'), ''],
    [base64('{"reason":"The CVM failed.","confirmed":false}'), 'reason: The CVM failed, confirmed: false'],
    [base64('{"file_name":"größe.csv","fields":["name"]}'), 'file name: größe.csv, fields: name'],
    [base64('plain text of an agent'), 'plain text of an agent'],
    [base64('[1,2]'), '[1,2]'],
  ])('%s reads as: %s', (details, text) => {
    expect(fieldsText(detailsOf(details))).toBe(text);
  });

  it('leave out the field that is shown elsewhere', () => {
    const details = base64('{"occurred_at":"2026","reason":"x"}');
    expect(detailsOf(details, 'occurred_at')).toEqual([{ name: 'reason', value: 'x' }]);
  });

  it.each(['not base64!', base64(Buffer.from([0xff, 0xfe]))])('%s stays as it came', (details) => {
    expect(fieldsText(detailsOf(details))).toBe(details);
  });
});

describe('an event', () => {
  it.each([
    ['started', 'Run started'],
    ['ReceivingAlgorithm', 'Receiving algorithm'],
    ['ConsumingResults', 'Consuming results'],
    ['something_else', 'Something else'],
    ['constructor', 'Constructor'],
  ])('%s is called %s', (type, text) => {
    expect(eventText(type)).toBe(text);
  });

  it.each([
    ['completed', 'success', 'success'],
    ['failed', 'failure', 'error'],
    ['cancelled', 'success', 'stopped'],
    ['Running', 'InProgress', 'in-progress'],
    ['ConsumingResults', 'Ready', 'success'],
    ['Failed', 'Failed', 'error'],
    ['AlgorithmRun', 'Warning', 'warning'],
    ['Whatever', 'of the agent', 'info'],
  ])('%s with the status %s is marked as %s', (event_type, status, mark) => {
    expect(eventMark({ event_type, status })).toBe(mark);
  });
});
