import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import * as v from 'valibot';
import { busEventSchema, type BusEvent } from '../../infra/bus/bus-event.ts';
import { eventDetailType, eventSource } from '../../infra/bus/stage-bus.ts';
import { isSelected } from '../support/pipe.ts';

interface RuleOfExample {
  Resources: { Rule: { Properties: { EventPattern: object; Targets: { InputPath: string; DeadLetterConfig: object }[] } } };
}

const page = readFileSync(new URL('../../docs/events.md', import.meta.url), 'utf8');
const [, shown = ''] = /```json\n([\s\S]*?)```/.exec(page) ?? [];
const onBus = JSON.parse(shown) as { source: string; 'detail-type': string; detail: BusEvent };

/** Reads the rule of an example, with the domain filled in. */
function ruleOf(name: string, domain: string) {
  const text = readFileSync(new URL(`../../docs/examples/${name}.json`, import.meta.url), 'utf8');
  const { Resources } = JSON.parse(text.replace('{ "Ref": "Domain" }', JSON.stringify(domain))) as RuleOfExample;
  return Resources.Rule.Properties;
}

describe('the event that docs/events.md shows', () => {
  it('has the form of an event on the bus', () => {
    expect(v.parse(v.strictObject(busEventSchema.entries), onBus.detail)).toEqual(onBus.detail);
    expect(onBus).toMatchObject({ source: eventSource, 'detail-type': eventDetailType });
  });
});

describe.each(['events-to-queue', 'events-to-webhook'])('docs/examples/%s.json', (name) => {
  it('selects the event of its domain, and no other', () => {
    const pattern = ruleOf(name, 'd1').EventPattern;
    expect(isSelected(pattern, { ...onBus })).toBe(true);
    expect(isSelected(pattern, { ...onBus, source: 'aws.s3' })).toBe(false);
    expect(isSelected(ruleOf(name, 'd2').EventPattern, { ...onBus })).toBe(false);
  });

  it('delivers the detail, and keeps undelivered events', () => {
    for (const target of ruleOf(name, 'd1').Targets) {
      expect(target).toMatchObject({ InputPath: '$.detail', DeadLetterConfig: { Arn: { 'Fn::GetAtt': ['Failed', 'Arn'] } } });
    }
  });
});
