import type { Schemas } from '../api-types.ts';
import { ServiceProblem } from '../service-problem.ts';
import { CutOffError, repeatTransfer, type RepeatOptions } from './repeat-transfer.ts';
import { storageAnswer } from './storage-answer.ts';

type Link = Schemas['AssetUpload'];

/** What storage answered. */
export interface StorageResponse {
  status: number;
  /** XML, which names an error in `<Code>`. Empty after a success. */
  body: string;
}

interface Options extends RepeatOptions {
  /** Sends the content once. */
  put: (link: Link) => Promise<StorageResponse>;
  /** Returns a new link, or undefined if the content has arrived. */
  renew: () => Promise<Link | undefined>;
}

/**
 * Sends the content of an asset to storage. Repeats it if the connection breaks, if the link has expired, if storage asks for it, or if
 * the service gives no new link for now. Gives up as `repeatTransfer` does.
 * @param first the link of the first attempt. Default: a new one
 * @throws ServiceProblem if storage or the service refuses; as `repeatTransfer`
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
