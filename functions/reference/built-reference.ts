/** A file of the API reference, compressed by `npm run build` into the folder of the function that serves it. */
export interface BuiltFile {
  path: string;
  /** The name of the file, which is compressed with gzip, in the folder of the function. */
  name: string;
  contentType: string;
  etag: string;
}

/** The name of the file that lists all others, as JSON: an array of BuiltFile. */
export const listOfFiles = 'files.json';
