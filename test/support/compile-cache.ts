const folder = process.env['NODE_COMPILE_CACHE'];

/** The variable with which a process uses what tests have compiled, for one that gets none of the variables of this process. */
export const compileCache: Record<string, string> = folder === undefined ? {} : { NODE_COMPILE_CACHE: folder };
