import { domainId, identifier } from 'computation-management-formats/identifiers';
import * as v from 'valibot';
import { eventSchema } from '../../shared/journal/event.ts';

const { id, event_type, details, run_id, timestamp, originator, cvm_id, status } = eventSchema.entries;

/** An event of a computation as the event bus carries it, in the field `detail` of EventBridge's own form. */
export const busEventSchema = v.pipe(
  v.object({
    domain: v.pipe(domainId, v.description('The domain of the computation.')),
    computation_id: v.pipe(identifier, v.description('The computation.')),
    number: v.pipe(
      v.string(),
      v.regex(/^[1-9][0-9]{0,14}$/),
      v.description('The number of the event in its computation, as digits: 1, 2, 3, ... without a gap. It orders the events.'),
      v.metadata({ maxLength: 15, examples: ['1', '42'] }),
    ),
    id,
    event_type,
    details,
    run_id,
    timestamp,
    originator,
    cvm_id,
    status,
    hash_base64: v.pipe(
      v.string(),
      v.regex(/^[A-Za-z0-9+/]{43}=$/),
      v.description('The `hash` of the event, which the API returns as hex digits, in base64.'),
      v.metadata({ maxLength: 44 }),
    ),
  }),
  v.title('ComputationEvent'),
);

export type BusEvent = v.InferOutput<typeof busEventSchema>;

/** The attribute of a stored event that each field is taken from, with its type in DynamoDB's JSON. Bytes are base64 there. */
const sources: Record<keyof BusEvent, `${string}.${'S' | 'N' | 'B'}`> = {
  domain: 'domain.S',
  computation_id: 'computation_id.S',
  number: 'number.N',
  id: 'id.S',
  event_type: 'event_type.S',
  details: 'details.B',
  run_id: 'run_id.S',
  timestamp: 'timestamp.S',
  originator: 'originator.S',
  cvm_id: 'cvm_id.S',
  status: 'status.S',
  hash_base64: 'hash.B',
};

/**
 * The input template of the pipe. A variable without quotes becomes the JSON of its value. A missing attribute would leave the
 * JSON invalid, so each exists in all items that pass the filter.
 */
export const busEventTemplate = `{${Object.entries(sources)
  .map(([field, source]) => `"${field}":<$.dynamodb.NewImage.${source}>`)
  .join(',')}}`;
