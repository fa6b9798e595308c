import { journalKeys } from '../../shared/table/keys.ts';

/**
 * The pattern of the stream's records that leave the service: new events of journals. Everything else in the table stays, such as
 * definitions, keys and the deletion of journals.
 */
export const journalFilter = {
  eventName: ['INSERT'],
  dynamodb: {
    Keys: {
      pk: { S: [{ prefix: journalKeys.partition('') }] },
      sk: { S: [{ prefix: journalKeys.prefixes.event }] },
    },
  },
};
