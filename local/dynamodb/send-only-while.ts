import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

/**
 * Makes a client send its calls only while its engine listens. While it does not, another engine may listen at its address, and would
 * answer from another table. So each call fails as if nobody listened there, and the client repeats it.
 */
export function sendOnlyWhile(
  isListening: () => boolean,
  { middlewareStack }: Pick<DynamoDBDocumentClient, 'middlewareStack'>,
): void {
  middlewareStack.add(
    (next) => async (call) => {
      if (!isListening()) throw Object.assign(new Error('The DynamoDB engine does not listen.'), { code: 'ECONNREFUSED' });
      return await next(call);
    },
    { name: 'sendOnlyWhile', override: true, step: 'finalizeRequest', priority: 'low' }, // inside the repeats
  );
}
