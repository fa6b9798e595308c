/**
 * The interface of `shared/events`, which reads the events of a computation. Code outside of this folder, except for the handlers
 * of events, imports only this name.
 */

export { readEvents } from './read-events.ts';
