import { sizeText } from '../show/size-text.ts';

/** The texts of every field that takes one file. */
export const fileUploadTexts = {
  uploadButtonText: () => 'Choose file',
  dropzoneText: () => 'Drop the file here',
  formatFileSize: sizeText,
  removeFileAriaLabel: () => 'Remove the file',
  limitShowFewer: 'Show fewer',
  limitShowMore: 'Show more',
  errorIconAriaLabel: 'Error',
  warningIconAriaLabel: 'Warning',
};
