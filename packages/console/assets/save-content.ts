import type { Schemas } from 'computation-management-client';

/** Lets the user save the content of an asset, which the service returned inline or as a link. */
export function saveContent({ asset, download, file_name }: Schemas['Asset']): void {
  const anchor = document.createElement('a');
  anchor.download = file_name;
  if (download) {
    anchor.href = download.url;
    anchor.rel = 'noreferrer';
  } else {
    const bytes = Uint8Array.from(atob(asset ?? ''), (character) => character.charCodeAt(0));
    // Never the type that was sent with it: a page of it must not open with the console's rights.
    anchor.href = URL.createObjectURL(new Blob([bytes], { type: 'application/octet-stream' }));
    setTimeout(() => URL.revokeObjectURL(anchor.href), 60_000);
  }
  anchor.click();
}
