import { writeFileSync } from 'node:fs';
import { busEventDocument } from '../infra/bus/bus-event-document.ts';

/** The text of docs/schemas/computation-event.json. */
export function eventSchemaFile(): string {
  return `${JSON.stringify(busEventDocument(), null, 2)}\n`;
}

if (import.meta.main) writeFileSync(new URL('schemas/computation-event.json', import.meta.url), eventSchemaFile());
