/** A file of the API reference, as `npm run build` writes it into the folder of the function that serves the reference. */
export interface BuiltFile {
  path: string;
  /** The name of the compressed file (gzip) of the API reference, in the folder of the function that serves the reference. */
  name: string;
  contentType: string;
  etag: string;
}

/** The name of the file that lists all files of the API reference: JSON, an array of BuiltFile. */
export const listOfFiles = 'files.json';
