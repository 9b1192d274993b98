/** The column in which everything about a run stands, one part below the other, however wide the window is. */
export const COLUMN = 'mx-auto w-full max-w-4xl px-3';
/** The same for two texts side by side. */
export const WIDE_COLUMN = 'mx-auto w-full max-w-7xl px-3';
