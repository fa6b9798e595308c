import * as v from 'valibot';
import { shownText, text } from './text.ts';

const longestDescription = 4000;

export const description = v.pipe(text(0, longestDescription), v.description('A description. Up to 4,000 characters.'));
export const shownDescription = shownText(longestDescription);

/** A field that the service sets. A client may send it back as it was returned. */
export const returned = v.optional(v.pipe(v.unknown(), v.description('Ignored. The service sets this field.')));
