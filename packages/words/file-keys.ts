import type { Schemas } from 'computation-management-client';
import type { Fetched } from './lines.ts';
import { plainName, userText } from 'computation-management-formats/quoted-name';

/** The words for who can open the key of a file, to the user who gave the file its key. */
export const keyHolders: Record<Schemas['AssetKey']['held'], string> = {
  party: 'you, with cms broker',
  service: 'the operator of this service, and you',
};

/** Returns whether agents ask this service for the key of a file, by the path of the key. @param file the file and the asset it is of */
export function hasKeyHere({ id, source }: Pick<Fetched, 'source'> & { id: string }): boolean {
  return source?.kbs_resource_path === `${id}/key/1`;
}

/** Returns to what the key of a file is bound, and who can open the file elsewhere. */
export function keyCaution({ file_name, created_by }: Pick<Schemas['AssetRow'], 'file_name' | 'created_by'>): string {
  const creator = userText(created_by);
  return `The key of ${plainName(file_name)} goes only to the machine of an approved run that the policies allow. Who holds it is not covered: ${creator}, or the operator of this service for ${creator}. Its holder can open the file anywhere.`;
}
