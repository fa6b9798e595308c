/** A file of the API reference, compressed by `npm run build` into the folder of the function that serves it. */
export interface BuiltFile {
  path: string;
  /** Gzip. */
  name: string;
  contentType: string;
  etag: string;
}

/** JSON, an array of BuiltFile. */
export const listOfFiles = 'files.json';
