export { factItems, Groups, Hash, Lines } from './hash.tsx';
export { saveFile } from './save-file.ts';
export { learnServiceTime, serviceNow, useNow } from './service-clock.ts';
export { AssetState, type Look, Looking, Status, StatusIndicator, statusOptions, statusText } from './status.tsx';
export { Term } from './term.tsx';
export { durationText, keyToSend, momentText, namesIn, offsetText, sizeText } from './texts.ts';
export { Ago, Elapsed, Moment, Time } from './time.tsx';
export { Bullets, keepTextsVisible, Name, Names, Quote, User, Warnings } from './visible-texts.tsx';
