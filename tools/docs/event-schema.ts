import { writeFileSync } from 'node:fs';
import { busEventDocument } from './bus-event-document.ts';

/** The text of docs/schemas/computation-event.json. */
export function eventSchemaFile(): string {
  return `${JSON.stringify(busEventDocument(), null, 2)}\n`;
}

const page = new URL('../../docs/schemas/computation-event.json', import.meta.url);
if (import.meta.main) writeFileSync(page, eventSchemaFile());
