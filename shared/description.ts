import * as v from 'valibot';
import { shownText, text } from './text.ts';

export const description = v.pipe(text(0, 4000), v.description('A description. Up to 4,000 characters.'));
export const shownDescription = v.pipe(shownText(4000), v.description('The description.'));
