import { readFileSync } from 'node:fs';

const document = new URL('../../docs/restore.md', import.meta.url);
const timeInDocument = '2026-11-22T02:00:00Z';

/** What an operator puts in place of the document's `<names>`. */
export interface Filled {
  stage: string;
  TableArn: string;
  ContentBucketName: string;
  /** The time to restore: RFC 3339, UTC, seconds. */
  time: string;
}

/**
 * Returns the commands of a section of docs/restore.md, as shell text.
 * @param section the number of the section
 * @param block which of its blocks of commands, from 0
 */
export function commandsOf(section: number, block: number, { time, ...names }: Filled): string {
  const [text = ''] = readFileSync(document, 'utf8')
    .split(/^## /m)
    .filter((part) => part.startsWith(`${section}. `));
  const commands = text.match(/(?:^ {4}.*\n)+/gm)?.[block];
  if (!commands) throw new Error(`Section ${section} of docs/restore.md has no block ${block} of commands.`);
  const filled = Object.entries(names).reduce((line, [name, value]) => line.replaceAll(`<${name}>`, value), commands);
  const [missing] = /<[A-Za-z ]+>/.exec(filled.replaceAll(timeInDocument, time)) ?? [];
  if (missing) throw new Error(`Section ${section} of docs/restore.md names ${missing}, which the drill does not know.`);
  return filled.replaceAll(timeInDocument, time);
}
