// Makes the tests of viz/page show pages with planted faults: `NODE_OPTIONS=--import=.../planted_page.mjs node test/browser.mjs ...`.
// page.mjs sets the variables. PLANTED_PAGES: the folder whose report.template.html and live.template.html have the script with all
// mutants; MUTANT: the number of the active one, or empty; REACHED: the file for the numbers of the mutants that are reached, or empty.
// The first check that fails ends the test.
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const { PLANTED_PAGES, MUTANT, REACHED } = process.env;
const pages = process.argv[1]?.endsWith('.mjs') ? createRequire(pathToFileURL(process.argv[1])) : null;
const reached = new Set();

// A page with the script of a template.
const script = /(<script(?: nonce="[^"]*")?>)(?!.*<script(?: nonce="[^"]*")?>)(.*)(<\/script>\s*<\/body>)/s;
const scripts = Object.fromEntries(['report', 'live'].map((name) => [name, script.exec(readFileSync(join(PLANTED_PAGES, `${name}.template.html`), 'utf8'))[2]]));
export const planted = (page) => page.replace(script, (_, begin, __, end) => begin + scripts[page.includes('<div id="live">') ? 'live' : 'report'] + end);

async function plant(context) {
  context.setDefaultTimeout(10000);
  await context.exposeBinding('reachedMutant', (_, number) => reached.add(number));
  // The helpers of Stryker read `activeMutant` and count in `static`.
  await context.addInitScript(([active, records]) => {
    const counts = records ? new Proxy({}, { set: (all, number, count) => (all[number] || window.reachedMutant(number), (all[number] = count), true) }) : {};
    window.recordsMutants = records;
    window.__stryker__ = { activeMutant: active, mutantCoverage: { static: counts, perTest: {} } };
  }, [MUTANT, REACHED !== '']);
  // The pages of the server, while pages in files were changed before.
  await context.route((url) => url.protocol === 'http:' && /\/(page)?$/.test(url.pathname), async (route) => {
    if (route.request().resourceType() !== 'document') return route.continue();
    const response = await route.fetch();
    return route.fulfill({ response, body: planted(await response.text()) });
  });
  return context;
}

if (pages && /\/viz\/page\/test\//.test(process.argv[1])) {
  const { chromium } = pages('playwright-core');
  const launch = chromium.launch.bind(chromium);
  chromium.launch = async (options) => {
    const browser = await launch(options);
    const new_context = browser.newContext.bind(browser);
    browser.newContext = async (wanted) => plant(await new_context(wanted));
    return browser;
  };
  console.error = (...words) => {
    process.stderr.write(`${words.join(' ')}\n`);
    process.exit(1);
  };
  process.on('exit', () => REACHED && writeFileSync(REACHED, JSON.stringify(Object.fromEntries([...reached].map((number) => [number, 1])))));
}
