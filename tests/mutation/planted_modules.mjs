// Chooses the planted fault of a bundle of viz/page/test/modules.mjs: `NODE_OPTIONS=--import=.../planted_modules.mjs node bins.test.mjs`.
// page.mjs sets the variables. MUTANT: the number of the active mutant, or empty; REACHED: the file for the numbers of the mutants that are
// reached, and how often, or empty; HITS: a test fails if it reaches the mutant more often, in an endless loop.
import { writeFileSync } from 'node:fs';

const { MUTANT, REACHED, HITS } = process.env;
const counts = {};
globalThis.recordsMutants = REACHED !== '';
globalThis.__stryker__ = { activeMutant: MUTANT, mutantCoverage: { static: counts, perTest: {} }, hitCount: 0, hitLimit: Number(HITS) || Infinity };
process.on('exit', () => REACHED && writeFileSync(REACHED, JSON.stringify(counts)));
