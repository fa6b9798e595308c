import { journalKeys } from '../../shared/table/keys.ts';

/** The records of the stream that leave the service: new events of journals. */
export const journalFilter = {
  eventName: ['INSERT'],
  dynamodb: {
    Keys: {
      pk: { S: [{ prefix: journalKeys.partition('') }] },
      sk: { S: [{ prefix: journalKeys.prefixes.event }] },
    },
  },
};
