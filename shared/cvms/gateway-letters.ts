import * as v from 'valibot';
import { log } from '../logger.ts';
import { gatewayKeys } from '../table/keys.ts';
import { parseStored } from '../table/parse-stored.ts';
import { queryPrefix, type Table } from '../table/table.ts';
import { deleteItemIf, putItem } from '../table/writes.ts';

const question = v.object({
  type: v.literal('question'),
  id: v.string(),
  /** The gateway that asks. */
  from: v.string(),
  domain: v.string(),
  cvm_id: v.string(),
  stream: v.string(),
});

const answer = v.object({ type: v.literal('answer'), id: v.string(), answers: v.boolean() });

/** Asks a gateway whether the agent still answers on one of its streams. */
export type Question = v.InferOutput<typeof question>;

/** What gateways write to each other. They cannot connect to each other, so the table holds a letter until it was read. */
const letter = v.variant('type', [question, answer]);
export type Letter = v.InferOutput<typeof letter>;

/** Letters to a gateway that is gone. */
const keptInSeconds = 60 * 60;

/** Leaves a letter for a gateway. Costs one write unit. */
export async function sendLetter(table: Table, to: string, letter: Letter, now: string): Promise<void> {
  const ttl = Math.floor(Date.parse(now) / 1000) + keptInSeconds;
  await putItem(table, { ...gatewayKeys.letter(to, letter.id), ...letter, ttl });
}

/**
 * Reads the letters to a gateway. Costs one read unit, and more only if there are many. Removes a letter that it cannot read, such as one
 * of another version: it must not block the others, and the gateway that asked does not wait for long.
 */
export async function readLetters(table: Table, gateway: string): Promise<Letter[]> {
  const items = await queryPrefix(table, gatewayKeys.partition(gateway), gatewayKeys.prefixes.letter);
  const letters: Letter[] = [];
  for (const item of items) {
    try {
      letters.push(parseStored(letter, item, 'letter to a gateway'));
    } catch (error) {
      log('WARN', 'A letter of another gateway cannot be read and is removed.', {}, error);
      await removeLetter(table, gateway, String(item['sk']).slice(gatewayKeys.prefixes.letter.length));
    }
  }
  return letters;
}

/** Removes a letter, if it is there. */
export async function removeLetter(table: Table, gateway: string, id: string): Promise<void> {
  await deleteItemIf(table, gatewayKeys.letter(gateway, id), { ConditionExpression: 'attribute_exists(pk)' });
}
