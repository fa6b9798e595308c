import type { Schemas } from 'computation-management-client';
import { fromBase64 } from 'computation-management-formats/bytes';
import { saveFile } from '../show/save-file.ts';

/** Lets the user save the content of an asset, which the service returned inline or as a link. */
export function saveContent({ asset, download, file_name }: Schemas['Asset']): void {
  // Never the type that was sent with it: a page of it must not open with the console's rights.
  if (!download) return saveFile(file_name, fromBase64(asset ?? '') ?? '', 'application/octet-stream');
  const anchor = document.createElement('a');
  Object.assign(anchor, { download: file_name, href: download.url, rel: 'noreferrer' }).click();
}
