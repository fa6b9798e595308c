/**
 * The interface of `shared/todo`, which decides what waits for users, and keeps lists of it. Code outside of this folder, except for the
 * handler of the open tasks, imports only these names: what keeps the lists up to date.
 */

export { followTodo, rebuildTodo, recheckTodo } from './follow-changes.ts';
export { positionInStream, sendProbes } from './position.ts';
