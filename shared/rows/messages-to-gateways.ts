import * as v from 'valibot';
import { log } from '../runtime/log.ts';
import { gatewayKeys } from '../table/keys.ts';
import { type Table, getItem, queryPrefix } from '../table/table.ts';
import { deleteItemIf, putItem } from '../table/writes.ts';
import { parseStored } from '../table/stored.ts';

const question = v.object({
  type: v.literal('question'),
  ...v.entriesFromList(['id', 'from', 'domain', 'cvm_id', 'stream'], v.string()),
  /** True if a second agent of the CVM has connected to the gateway that asks. */
  is_rival: v.boolean(),
});

/** Schema of the answer to a question of another gateway: the state of the agent, or null if the agent does not answer. */
const answer = v.object({ type: v.literal('answer'), id: v.string(), state: v.nullable(v.string()) });

/** The question of one gateway to another: which state an agent answers on a stream of the other gateway. */
export type Question = v.InferOutput<typeof question>;

/** A message from one gateway to another. Messages go through the table, because gateways cannot connect to each other. */
const message = v.variant('type', [question, answer]);
export type MessageToGateway = v.InferOutput<typeof message>;

/**
 * The time after which a message from one gateway to another expires, in seconds: one hour. Its gateway may be gone, and then
 * nobody removes it.
 */
const lifetimeInSeconds = 60 * 60;

/** Stores a message for another gateway. Costs one write unit. */
export async function sendToGateway(table: Table, to: string, message: MessageToGateway, now: string): Promise<void> {
  const ttl = Math.floor(Date.parse(now) / 1000) + lifetimeInSeconds;
  await putItem(table, { ...gatewayKeys.message(to, message.id), ...message, ttl });
}

/**
 * Reads the messages that are stored for a gateway. Costs one read unit, more only if there are many. Removes a message that
 * cannot be parsed.
 */
export async function readMessagesToGateway(table: Table, gateway: string): Promise<MessageToGateway[]> {
  const items = await queryPrefix(table, gatewayKeys.partition(gateway), gatewayKeys.prefixes.message);
  const messages: MessageToGateway[] = [];
  for (const item of items) {
    try {
      messages.push(parseStored(message, item, 'message to a gateway'));
    } catch (error) {
      log('WARN', 'A message of another gateway cannot be parsed and is removed.', {}, error);
      await removeMessageToGateway(table, gateway, String(item['sk']).slice(gatewayKeys.prefixes.message.length));
    }
  }
  return messages;
}

/** Reads one message that is stored for a gateway. Undefined if there is none. */
export async function messageToGateway(table: Table, gateway: string, id: string): Promise<MessageToGateway | undefined> {
  const item = await getItem(table, gatewayKeys.message(gateway, id));
  return item && parseStored(message, item, 'message to a gateway');
}

export async function removeMessageToGateway(table: Table, gateway: string, id: string): Promise<void> {
  await deleteItemIf(table, gatewayKeys.message(gateway, id), { ConditionExpression: 'attribute_exists(pk)' });
}
