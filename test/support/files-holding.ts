import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { holdsText } from './holds-text.ts';

/**
 * Returns the files of a directory that contain a text, also compressed (holdsText). Of a SQLite file, each value is looked at as
 * well: in the file, its bytes may be in pieces.
 */
export function filesHolding(directory: string, text: string, dictionaries: readonly Uint8Array[] = []): string[] {
  return filesIn(directory).filter((file) => {
    const contents = [readFileSync(file), ...(file.endsWith('.sqlite') ? valuesOf(file) : [])];
    return contents.some((content) => holdsText(content, text, dictionaries));
  });
}

export function filesIn(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

/** Returns the texts and bytes in a SQLite file. */
export function valuesOf(file: string): Uint8Array[] {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const tables = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all();
    const rows = tables.flatMap(({ name }) => database.prepare(`SELECT * FROM "${String(name)}"`).all());
    return rows.flatMap(Object.values).flatMap((value: unknown) => {
      if (value instanceof Uint8Array) return [value];
      return typeof value === 'string' ? [Buffer.from(value)] : [];
    });
  } finally {
    database.close();
  }
}
