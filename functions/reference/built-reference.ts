/** A file of the API reference, as `npm run build` writes it into the folder of its function. */
export interface BuiltFile {
  path: string;
  /** The name of the compressed file (gzip) in that folder. */
  name: string;
  contentType: string;
  etag: string;
}

/** The name of the file that lists all files of the API reference: JSON, an array of BuiltFile. */
export const listOfFiles = 'files.json';
