import type { TdxCollateral } from 'computation-management-attestation';
import { parseJson } from 'computation-management-verify';
import { UsageError } from '../terminal/cms-error.ts';
import { readBytes, textOf } from './read-file.ts';

/** The options that name what attestation evidence is verified with. */
export interface Material {
  certificate?: string[];
  collateral?: string[];
  root?: string[];
}

/** Reads the files of the options. Other roots than those of AMD and Intel are trusted only if the user named them. */
export async function materialFrom({ certificate = [], collateral = [], root }: Material) {
  return {
    certificates: await Promise.all(certificate.map(readBytes)),
    collateral: await Promise.all(collateral.map(readCollateral)),
    ...(root ? { roots: await Promise.all(root.map(readBytes)) } : {}),
  };
}

async function readCollateral(file: string): Promise<TdxCollateral> {
  const text = await textOf(file);
  try {
    return parseJson(text, file) as TdxCollateral; // a document that is malformed fails the check that reads it
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}
