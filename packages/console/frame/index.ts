export { Choice } from './choice.tsx';
export { ConfirmModal, DeleteModal, type DialogProps, useAsked } from './confirm-modal.tsx';
export { focusOn, focusTitle, isFocusLost, keepFocus } from './focus.ts';
export { FormFrame } from './form-frame.tsx';
export { GoTo } from './go-to.tsx';
export { PlaceTabs } from './place-tabs.tsx';
export { Panel, ScreenFrame } from './screen-frame.tsx';
export { TextField } from './text-field.tsx';
