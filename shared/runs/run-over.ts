/** The error that ends the wait of a step that finds its run over. The state machine's Catch knows it by this name. */
export const runOverErrorName = 'RunIsOver';
