/** What storage takes in one request, in bytes: 5 GiB. */
export const largestUploadInBytes = 5 * 1_024 ** 3;
