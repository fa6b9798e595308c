/** As `npm run build` writes it into the folder of its function. */
export interface BuiltFile {
  path: string;
  /** Gzip. */
  name: string;
  contentType: string;
  etag: string;
}

/** JSON, an array of BuiltFile. */
export const listOfFiles = 'files.json';
