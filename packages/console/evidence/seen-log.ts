import { type Client, isLoopback, readLog } from 'computation-management-client';
import { followLog, LogAlarm, logOfEvidence, type SeenLog, UnreadableError, withTags } from 'computation-management-verify';
import { saveFile } from '../show/save-file.ts';

const keyOf = ({ baseUrl }: Client) => `console.log.${baseUrl}`;

/** A log as this browser has seen it, with the index of the entry of each tag that is known here, in hex. */
type Kept = SeenLog & { tags: Record<string, number | null> };

/** Returns what this browser keeps of the log of a service. Undefined if it has seen none. */
function seenHere(client: Client): Kept | undefined {
  const kept = localStorage.getItem(keyOf(client));
  return kept === null ? undefined : (JSON.parse(kept) as Kept);
}

/**
 * Checks that the log of a service continues what this browser has seen of it, and keeps its newest checkpoint. The first one is believed. A
 * service on this machine may begin another log.
 * @param evidence evidence that the service gave, as text
 * @returns the alarm if the log shows two histories: both checkpoints are saved as a file then. Undefined also if the browser cannot tell
 * @throws ServiceProblem if the log cannot be read
 */
export async function followLogHere(client: Client, evidence: string, signal?: AbortSignal): Promise<LogAlarm | undefined> {
  const baseUrl = new URL(client.baseUrl || '/', location.href).href.replace(/\/+$/, '');
  const read = (path: string) => readLog(path, { baseUrl, signal });
  try {
    const { log, tags } = await logOfEvidence(evidence);
    const kept = seenHere(client);
    const isAnew = kept && kept.origin !== log.origin && isLoopback(new URL(baseUrl));
    const before = isAnew ? undefined : kept;
    const published = new TextDecoder().decode(await read('checkpoint'));
    const now = await followLog(before ? [before, log] : [log], published, read);
    const checkpoints = [...(before ? [before.checkpoint] : []), log.checkpoint, published];
    const next: Kept = { ...now, tags: withTags(now, before?.tags ?? {}, tags, checkpoints) };
    if (seenHere(client)?.checkpoint !== kept?.checkpoint) return await followLogHere(client, evidence, signal);
    localStorage.setItem(keyOf(client), JSON.stringify(next));
    return undefined;
  } catch (error) {
    if (error instanceof LogAlarm) {
      const at = new Date().toISOString();
      saveFile(
        `log-alarm-${at.replaceAll(':', '')}.txt`,
        [`${at} ${baseUrl}\n${error.message}\n`, ...error.checkpoints].join('\n'),
        'text/plain',
      );
      return error;
    }
    const cannotTell = error instanceof UnreadableError || (error instanceof DOMException && error.name === 'NotSupportedError');
    if (cannotTell) return undefined; // the check of the evidence says so
    throw error;
  }
}
