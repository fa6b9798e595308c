/** The error with which a step fails its task if its run is over. The state machine catches it by this name. */
export const runOverErrorName = 'RunIsOver';
