import type { JsonSchema } from '@valibot/to-json-schema';
import { writeFileSync } from 'node:fs';
import { jsonSchemaOf } from '../../shared/openapi/json-schema.ts';
import { busEventSchema, eventDetails } from '../../infra/bus/bus-event.ts';

/**
 * Returns the JSON Schema of an event on the event bus, in the field `detail`, with the decoded `details` of the events that the
 * service itself records.
 */
function busEventDocument(): JsonSchema {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    ...jsonSchemaOf(busEventSchema, 'output'),
    allOf: Object.entries(eventDetails).map(([event_type, details]) => ({
      if: { properties: { event_type: { const: event_type } }, required: ['event_type'] },
      then: {
        properties: {
          details: {
            contentEncoding: 'base64',
            contentMediaType: 'application/json',
            contentSchema: jsonSchemaOf(details, 'output'),
          },
        },
      },
    })),
  };
}

/** Returns the text of docs/schemas/computation-event.json. */
export function eventSchemaFile(): string {
  return `${JSON.stringify(busEventDocument(), null, 2)}\n`;
}

const page = new URL('../../docs/schemas/computation-event.json', import.meta.url);
if (import.meta.main) writeFileSync(page, eventSchemaFile());
