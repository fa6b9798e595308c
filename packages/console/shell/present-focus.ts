/** Whether nothing has the focus, as after the element that had it has gone. An open dialog keeps it. */
export function isFocusLost(): boolean {
  return !isDialogOpen() && (document.activeElement ?? document.body) === document.body;
}

/** Whether the user is in a dialog or in the content of the screen, from where a title must not take the focus. */
export function isFocusTaken(): boolean {
  return isDialogOpen() || (document.activeElement?.closest('#content') ?? null) !== null;
}

export function isInDialog(element: Element): boolean {
  return element.closest('[role=dialog]') !== null;
}

function isDialogOpen(): boolean {
  return document.querySelector('[role=dialog]') !== null;
}
