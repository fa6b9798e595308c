import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type TdxCollateral, verifySnpReport, verifyTdxQuote, verifyToken } from 'computation-management-attestation';
import { withTestRoots } from 'computation-management-attestation/test-roots';
import { causeOf } from 'computation-management-client';
import { parseJson } from 'computation-management-verify';
import { shellWord } from 'computation-management-words';
import { codeOf, UsageError } from '../terminal/cms-error.ts';

/** Reads a file. @throws CmsError if it cannot be read */
export async function readBytes(file: string): Promise<Buffer> {
  return await readFile(file).catch(refuseUnreadable(file));
}

/** Returns a function that throws the error of a file that cannot be read as one for the user. */
export function refuseUnreadable(file: string): (error: unknown) => never {
  return (error) => {
    throw new UsageError(whyUnreadable(file, error), filesBeside(file));
  };
}

/** Reads a file as UTF-8, without a byte order mark. @throws CmsError if it cannot be read */
export async function textOf(file: string): Promise<string> {
  return new TextDecoder().decode(await readBytes(file));
}

/** Returns the command that lists the folder of a file, or the nearest folder above the file that exists. */
export function filesBeside(file: string): string {
  let folder = dirname(file);
  while (!existsSync(folder) && folder !== dirname(folder)) folder = dirname(folder);
  return `ls ${shellWord(folder)}`;
}

/** Returns the sentence about why a file cannot be read. */
export function whyUnreadable(file: string, error: unknown): string {
  const name = JSON.stringify(file);
  if (isMissing(error)) return `There is no file ${name}.`;
  return `Cannot read ${name}: ${causeOf(error)}`;
}

/** Returns whether an error says that a file does not exist. */
export function isMissing(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes(codeOf(error));
}

/** The options that name files for the verification of attestation evidence. */
export interface Material {
  certificate?: string[];
  collateral?: string[];
  root?: string[];
}

/** Reads the certificates and collateral that the options name. */
export async function materialFrom({ certificate = [], collateral = [] }: Material) {
  return {
    certificates: await Promise.all(certificate.map(readBytes)),
    collateral: await Promise.all(collateral.map(readCollateral)),
  };
}

/** Returns the functions that verify evidence. They trust other roots than those of AMD and Intel only if the user named them. */
export async function verifierFor({ root }: Material) {
  return root ? withTestRoots(await Promise.all(root.map(readBytes))) : { verifySnpReport, verifyTdxQuote, verifyToken };
}

async function readCollateral(file: string): Promise<TdxCollateral> {
  const text = await textOf(file);
  try {
    return parseJson(text, file) as TdxCollateral; // a document that is malformed fails the check that reads it
  } catch (error) {
    throw new UsageError(causeOf(error));
  }
}
