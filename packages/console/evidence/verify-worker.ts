import { archiveIn, checkEvidence, keysOfArchive, UnreadableError } from 'computation-management-verify';
import { checkEvidenceByTestRoots } from 'computation-management-verify/test-roots';
import type { Chosen, FilesToJudge, Judgement, ToJudge } from './judge.ts';

self.onmessage = ({ data }: MessageEvent<ToJudge>) => void judge(data).then((judgement) => self.postMessage(judgement));

async function judge(given: ToJudge): Promise<Judgement> {
  if (!self.isSecureContext) return { problem: 'Browsers verify signatures only on pages of https. Use cms verify.' };
  try {
    const files = 'evidence' in given ? given : await read(given);
    if (!files) return { problem: 'This is no evidence file. Choose the file that Download evidence saves.' };
    const ofArchive = 'archive' in given && given.keys.length === 0 ? [keysOfArchive] : [];
    const { roots, ...others } = files;
    const findings = await (roots ? checkEvidenceByTestRoots(others, roots) : checkEvidence(others));
    return { findings: [...findings, ...ofArchive] };
  } catch (error) {
    const isTheirs = error instanceof UnreadableError;
    return { problem: isTheirs ? error.message : 'The verifier could not finish with these files. Use cms verify.' };
  }
}

async function read({ archive, keys: [keys], ...chosen }: Chosen): Promise<FilesToJudge | undefined> {
  const found = archiveIn(await new Blob([...archive]).text());
  const [certificates, roots] = await Promise.all([bytesOf(chosen.certificates), bytesOf(chosen.roots)]);
  return found && { ...found, ...(keys && { keys: await keys.text() }), certificates, ...(roots.length > 0 && { roots }) };
}

const bytesOf = (files: readonly Blob[]) => Promise.all(files.map(async (file) => new Uint8Array(await file.arrayBuffer())));
