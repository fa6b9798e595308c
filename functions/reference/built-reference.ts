/** A file of the API reference, as `npm run build` writes it into the folder of its function. */
export interface BuiltFile {
  path: string;
  /** The name of the compressed file (gzip) in the folder. */
  name: string;
  contentType: string;
  etag: string;
}

/** Lists the files of the folder: JSON, an array of BuiltFile. */
export const listOfFiles = 'files.json';
