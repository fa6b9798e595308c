/** Cases of the end-to-end suite that the emulator cannot pass, by their full title, with what was seen instead. */
export const impossible: Record<string, string> = {};
