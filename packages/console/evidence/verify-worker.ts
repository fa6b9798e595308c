import {
  archiveIn,
  checkEvidence,
  type EvidenceFiles,
  keysOfArchive,
  parseJson,
  UnreadableError,
} from 'computation-management-verify';
import type { Chosen, Judgement, ToJudge } from './judge.ts';

self.onmessage = ({ data }: MessageEvent<ToJudge>) => void judge(data).then((judgement) => self.postMessage(judgement));

async function judge(given: ToJudge): Promise<Judgement> {
  if (!self.isSecureContext) return { problem: 'Browsers verify signatures only on pages of https. Use cms verify.' };
  try {
    const files = 'evidence' in given ? given : await read(given);
    if (!files) return { problem: 'This is no evidence file. Choose the file that Download evidence saves.' };
    const ofArchive = 'archive' in given && given.keys.length === 0 ? [keysOfArchive] : [];
    return { findings: [...(await checkEvidence(files)), ...ofArchive] };
  } catch (error) {
    const isTheirs = error instanceof UnreadableError;
    return { problem: isTheirs ? error.message : 'The verifier could not finish with these files. Use cms verify.' };
  }
}

async function read({ archive, keys: [keys], material }: Chosen): Promise<EvidenceFiles | undefined> {
  const found = archiveIn(await new Blob([...archive]).text());
  const all = await Promise.all(material.map(async (file) => new Uint8Array(await file.arrayBuffer())));
  const isJson = ([first]: Uint8Array) => first === 0x7b;
  const collateral = all.filter(isJson).map((bytes) => parseJson(new TextDecoder().decode(bytes), 'The document of Intel'));
  const certificates = all.filter((bytes) => !isJson(bytes));
  return found && ({ ...found, ...(keys && { keys: await keys.text() }), certificates, collateral } as EvidenceFiles);
}
