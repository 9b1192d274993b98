import fc from 'fast-check';

// The same examples each time, so that a failure can be seen again. Another number looks elsewhere.
fc.configureGlobal({ seed: Number(process.env.FAST_CHECK_SEED ?? 1) });
