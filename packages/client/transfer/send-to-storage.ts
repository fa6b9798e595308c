import { ServiceProblem } from '../calls/service-problem.ts';
import type { Schemas } from '../generated/api-types.ts';
import { CutOffError, type RepeatOptions, repeatTransfer } from './repeat-transfer.ts';

type Link = Schemas['AssetUpload'];

/** The answer of the storage to which content was sent: its HTTP status and body. */
export interface StorageResponse {
  status: number;
  /** The body of the answer: XML, which names an error in `<Code>`. Empty after a success. */
  body: string;
}

interface Options extends RepeatOptions {
  put: (link: Link) => Promise<StorageResponse>;
  /** Gets a new link to send the content to. Returns undefined if the content has arrived. */
  renew: () => Promise<Link | undefined>;
}

/**
 * Sends content to storage by `put`, and sends it again if the connection breaks, the link expires, or storage asks for it.
 * @param first the link of the first attempt. Default: a new one
 * @throws ServiceProblem if storage or the service refuses; all that `repeatTransfer` throws
 */
export async function sendToStorage(first: Link | undefined, { put, renew, ...options }: Options): Promise<void> {
  let link = first;
  const send = async () => {
    const isNew = link === undefined;
    link ??= await renew();
    if (!link) return; // the content has arrived, although the answer was lost
    const answer = await put(link);
    const meaning = storageAnswer(answer.status, answer.body);
    if (meaning === 'arrived') return;
    if (meaning === 'refused' || (meaning === 'expired' && isNew)) throw refusal(answer);
    if (meaning === 'expired') link = undefined;
    throw new CutOffError(`Storage answered ${answer.status}`);
  };
  await repeatTransfer(send, options);
}

function refusal({ status, body }: StorageResponse): ServiceProblem {
  const [, code = ''] = /<Code>([^<]*)/.exec(body) ?? [];
  const [, message = ''] = /<Message>([^<]*)/.exec(body) ?? [];
  const reason = [code, message].filter(Boolean).join(': ');
  const detail = `Storage refused the file with the status ${status}${reason && ` (${reason})`}.`;
  return new ServiceProblem({ status, code: 'unexpected', detail, request: 'PUT to storage' });
}

/**
 * The meaning of an answer of storage. `arrived`: storage has the content, perhaps by an earlier attempt (412). `expired`: the
 * link is too old, unless it is new: then storage refuses. `again`: another attempt may succeed (such as 408, 409, 429, 5xx and
 * `RequestTimeout`). `refused`: anything else.
 */
type StorageAnswer = 'arrived' | 'expired' | 'again' | 'refused';

const passing = [408, 409, 429];

/** Returns what an answer of storage means. @param body the XML of the answer, which names an error in `<Code>` */
export function storageAnswer(status: number, body: string): StorageAnswer {
  if ((status >= 200 && status < 300) || status === 412) return 'arrived';
  if (status === 403) return 'expired';
  return passing.includes(status) || status >= 500 || body.includes('<Code>RequestTimeout</Code>') ? 'again' : 'refused';
}
