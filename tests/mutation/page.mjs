// Measures whether the tests of the pages that the program writes and serves notice small faults in their TypeScript:
//
//   node tests/mutation/page.mjs PROGRAM [--seed N] [--mutants N] [--seconds N] [--minutes N] [--work FOLDER] [--file PATTERN] [--modules]
//
// PROGRAM: a built `workbench`. Stryker's instrumenter, which npm installs into the work folder, finds the faults ("mutants") in
// viz/page/src and writes those of a sample into one copy of the pages, in which a variable chooses the active one. Each test runs once
// and records which mutants it reaches: a file of viz/page/test/modules, which needs no browser, a page of tests/page_test.sh, or a part of
// viz/page/test/live.mjs. Then the tests that reach a mutant run until a check fails, the console gets an error, or three times the usual
// time is up: those of modules first, and in a browser only for mutants that these do not notice, the tests that reach most mutants first.
// A mutant that ran out of time runs a second time before it counts as noticed.
// --mutants: size of the sample (default: 80). --work: default /tmp/page_mutants.
// --seconds: the browser tests of one mutant take at most so long together, but one runs in any case (default: 120).
// --minutes: no mutant begins later (default: 60). The same command continues, and runs survivors again.
// --file: only sources whose name has this regular expression. --modules: no browser.
// mutants.tsv in the work folder has a line for each mutant: place, line before and after, as equivalent.tsv wants them, and what happened.
//
// Not mutated: texts, which are string literals, template literals, and objects with nothing but texts, such as attributes of elements.
// Mutants are not type-checked.
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

const here = dirname(fileURLToPath(import.meta.url));
const source = resolve(here, '../..');
const { values: options, positionals: [program] } = parseArgs({ allowPositionals: true, options: {
  seed: { type: 'string', default: '1' }, mutants: { type: 'string', default: '80' }, seconds: { type: 'string', default: '120' },
  minutes: { type: 'string', default: '60' }, work: { type: 'string', default: '/tmp/page_mutants' },
  file: { type: 'string', default: '' }, modules: { type: 'boolean', default: false },
} });
if (!program || !existsSync(program)) {
  console.error(`page.mjs: expected the program 'workbench'; found ${program ? `'${program}', which does not exist` : 'no argument'}`);
  process.exit(2);
}
const began = Date.now();
const at = (...names) => join(resolve(options.work), ...names);
const read = (...names) => readFileSync(at(...names), 'utf8');
const read_json = (name) => (existsSync(at(name)) ? JSON.parse(read(name)) : {});
const write_json = (name, value) => writeFileSync(at(name), JSON.stringify(value, null, 1));
const hash = (text) => createHash('sha256').update(text).digest('hex');
mkdirSync(at(), { recursive: true });

const command = (name, ...words) => execFileSync(name, words, { stdio: ['ignore', 'ignore', 'inherit'] });

async function instrumented() {
  const installed = at('stryker', 'node_modules', '@stryker-mutator', 'instrumenter');
  if (!existsSync(installed)) command('npm', 'install', '--prefix', at('stryker'), '--no-save', `@stryker-mutator/instrumenter@9.6.1`);
  const { Instrumenter } = await import(pathToFileURL(createRequire(join(installed, 'package.json')).resolve('@stryker-mutator/instrumenter')));
  const instrumenter = new Instrumenter({ debug: () => undefined, info: () => undefined, isDebugEnabled: () => false });
  const folder = join(source, 'viz/page/src');
  const names = readdirSync(folder).filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts')).sort();
  const files = names.map((name) => ({ name, mutate: true, content: readFileSync(join(folder, name), 'utf8') }));
  return { originals: files, ...await instrumenter.instrument(files, { plugins: null, excludedMutations: ['StringLiteral'], ignorers: [] }) };
}

// What a mutant changes: whole lines before and after, without needless spaces.
function described(mutant, content) {
  const { start, end } = mutant.location;
  const lines = content.split('\n');
  const head = lines[start.line].slice(0, start.column);
  const tail = lines[end.line].slice(end.column);
  const whole = lines.slice(start.line, end.line + 1).join('\n');
  const plain = (text) => text.replace(/\s+/g, ' ').trim();
  const replaced = whole.slice(start.column, -tail.length || undefined);
  return { id: mutant.id, file: `viz/page/src/${mutant.fileName}`, line: start.line + 1, operator: mutant.mutatorName, replaced, original: plain(whole), mutant: plain(`${head}${mutant.replacement}${tail}`) };
}

const is_text = ({ operator, replaced }) => operator === 'ObjectLiteral' && /^\{(\s*[\w'-]+: ('[^']*'|-?\d+),?)*\s*\}$/.test(replaced);

// The rows of equivalent.tsv for these files; a column that begins with ~ is a regular expression.
function equivalents() {
  const rows = readFileSync(join(here, 'equivalent.tsv'), 'utf8').split('\n').map((line) => line.split('\t')).filter(([file]) => file.startsWith('viz/page/'));
  const fits = (column, text) => (column.startsWith('~') ? new RegExp(`^(?:${column.slice(1)})$`).test(text) : column === text);
  return (one) => rows.some(([file, , original, mutant]) => fits(file, one.file) && fits(original, one.original) && fits(mutant, one.mutant));
}

async function plan() {
  const { originals, files, mutants } = await instrumented();
  const content = new Map(originals.map((file) => [file.name, file.content]));
  const seen = new Map();
  const all = mutants.filter((one) => one.status !== 'Ignored' && new RegExp(options.file).test(one.fileName)).map((one) => described(one, content.get(one.fileName))).filter((one) => !is_text(one));
  for (const one of all) {
    const key = [one.file, one.original, one.mutant].join('\t');
    seen.set(key, (seen.get(key) ?? 0) + 1);
    one.key = `${key}\t${seen.get(key)}`; // the same place after changes elsewhere
    one.rank = hash(`${options.seed}\t${one.key}`);
  }
  const known = equivalents();
  const sample = all.sort((a, b) => (a.rank < b.rank ? -1 : 1)).slice(0, Number(options.mutants));
  const planted = sample.filter((one) => !known(one));
  const ids = new Set(planted.map((one) => one.id));
  rmSync(at('page'), { recursive: true, force: true });
  cpSync(join(source, 'viz/page'), at('page'), { recursive: true, filter: (name) => !/node_modules/.test(name) });
  symlinkSync(join(source, 'viz/page/node_modules'), at('page', 'node_modules'));
  for (const { name, content: text } of files) {
    writeFileSync(at('page', 'src', name), text
      .replace(/stryMutAct_9fa48\("(\d+)"\)/g, (whole, id) => (ids.has(id) ? whole : 'false'))
      .replace(/stryCov_9fa48\(("[^)]*)\)/g, (_, list) => {
        const kept = list.split(', ').filter((id) => ids.has(JSON.parse(id)));
        return kept.length > 0 ? `globalThis.recordsMutants && stryCov_9fa48(${kept.join(', ')})` : 'undefined';
      }));
  }
  console.log(`${all.length} mutants; ${sample.length} of seed ${options.seed}, of which ${sample.length - planted.length} are known to change no behaviour`);
  return planted;
}

// The pages with all mutants, for a browser.
async function makePages() {
  command('node', at('page', 'build.mjs'));
  if (!existsSync(at('pages', 'choose', 'report.html'))) {
    mkdirSync(at('pages'), { recursive: true });
    command('bash', join(source, 'tests/page_test.sh'), program, source, at('pages'));
  }
  process.env.PLANTED_PAGES = at('page');
  const { planted: with_script } = await import('./planted_page.mjs');
  for (const name of names_of_pages()) writeFileSync(page_of(name), with_script(readFileSync(page_of(name), 'utf8')));
}

const page_of = (name) => at('pages', name, 'report.html');
const names_of_pages = () => readdirSync(at('pages')).filter((name) => existsSync(page_of(name)));
const parts = ['editing', 'lecture', 'windows', 'killed', 'begins', 'lessons', 'keys'];
const bundle_of = (name) => at('bundles', `${name.slice(7)}.test.mjs`);

function bundles() {
  rmSync(at('bundles'), { recursive: true, force: true });
  process.env.PAGE_BUNDLES = at('bundles');
  process.env.PAGE_GOLDEN = pathToFileURL(join(source, 'tests/golden/page/modules/')).href;
  command('node', at('page', 'test/modules.mjs'));
  return readdirSync(at('bundles')).map((name) => `module ${name.replace('.test.mjs', '')}`);
}

// The kinds of tests, and the command and the file to import for tests of one kind.
const kinds = {
  module: ([name]) => ['planted_modules.mjs', process.execPath, '--max-old-space-size=1000', bundle_of(name)],
  page: (names) => ['planted_page.mjs', 'node', join(source, 'viz/page/test/browser.mjs'), ...names.map(page_of)],
  live: (names) => ['planted_page.mjs', 'bash', join(source, 'tests/live_test.sh'), program, source, ...names.map((name) => name.slice(5))],
};
const kind_of = (name) => /^(module|live) /.exec(name)?.[1] ?? 'page';

let running = () => undefined; // ends the test that runs
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => (running(), process.exit(1)));

// Runs these tests; resolves with the last words, and whether one failed or ran out of time. `most`: how often a module may reach the mutant.
function run(names, limit, mutant, reached = '', most = 0) {
  return new Promise((done) => {
    rmSync(at('tmp'), { recursive: true, force: true, maxRetries: 5 });
    mkdirSync(at('tmp'));
    const [planted, word, ...words] = kinds[kind_of(names[0])](names);
    const env = { ...process.env, TMPDIR: at('tmp'), NODE_OPTIONS: `--import=${pathToFileURL(join(here, planted))}`, MUTANT: mutant, REACHED: reached, HITS: String(most) };
    const child = spawn(word, words, { env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    const [start, said] = [Date.now(), []];
    const end = (signal) => {
      try {
        process.kill(-child.pid, signal); // with its servers
      } catch { /* It has ended. */ }
    };
    running = () => end('SIGKILL');
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      end('SIGKILL');
    }, 1000 * limit);
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => said.push(bytes));
    child.on('exit', (status) => {
      clearTimeout(timer);
      end('SIGTERM'); // servers have its standard error
    }).on('close', (status) => {
      const text = Buffer.concat(said).toString().trim();
      const how = /^not ok .*/m.exec(text)?.[0] ?? /(FAILED|\w*Error): .*/.exec(text)?.[0] ?? text.split('\n').at(-1);
      late ||= /Timeout|come to rest/.test(how);
      done({ failed: late || status !== 0, late, seconds: (Date.now() - start) / 1000, how: `${late ? 'out of time: ' : ''}${how.slice(0, 200)}` });
    });
  });
}

// Runs each test once, and returns which mutants it reaches.
async function record(names, file, stamp) {
  const before = read_json(file);
  const found = before.stamp === stamp ? before.tests : [];
  for (const name of names) {
    if (found.some((one) => one.name === name)) continue;
    const { failed, seconds, how } = await run([name], 300, '', at('reached'));
    console.log(`${seconds.toFixed(1).padStart(6)} s  ${name}${failed ? `: left out, because it fails without a mutant: ${how}` : ''}`);
    const times = failed ? {} : JSON.parse(read('reached'));
    found.push({ name, seconds, times, reached: Object.keys(times) });
    write_json(file, { stamp, tests: found });
  }
  return found.sort((a, b) => b.reached.length - a.reached.length);
}

const results = read_json('results.json');

// Runs these groups of tests until one notices the mutant.
async function tryOut(one, groups) {
  const start = Date.now();
  let result = { failed: false };
  for (const group of groups) {
    if (group.length === 0 || result.failed) continue;
    const names = group.map(({ name }) => name);
    const limit = 3 * group.reduce((sum, { seconds }) => sum + seconds, 0) + 5;
    result = await run(names, limit, one.id, '', 100 * group[0].times[one.id]);
    if (result.late) result = await run(names, limit, one.id);
  }
  results[one.key] = { ...result, in_browser: groups.some(([first]) => first && kind_of(first.name) !== 'module'), seconds: (Date.now() - start) / 1000 };
  write_json('results.json', results);
  console.log(`${result.failed ? 'noticed ' : 'SURVIVED'} ${results[one.key].seconds.toFixed(0).padStart(4)} s  ${one.file}:${one.line}  ${one.original.slice(0, 70)}  ->  ${one.mutant.slice(0, 70)}  ${result.failed ? result.how : ''}`);
}

const sample = await plan();
const stamp = (...templates) => hash(sample.map((one) => one.id) + templates.map((name) => read('page', name)).join('') + readdirSync(at('bundles')).map((name) => read('bundles', name)).join(''));
const in_time = () => Date.now() - began <= 60000 * options.minutes;
const of_modules = await record(bundles(), 'reached_by_modules.json', stamp());
for (const one of sample) {
  one.tests = of_modules.filter(({ reached }) => reached.includes(one.id)).sort((a, b) => a.reached.length - b.reached.length);
  if (one.tests.length > 0 && !results[one.key]?.failed && in_time()) await tryOut(one, one.tests.map((test) => [test]));
}
if (!options.modules) {
  await makePages();
  const by_browser = await record([...names_of_pages(), ...parts.map((part) => `live ${part}`)], 'reached.json', stamp('report.template.html', 'live.template.html'));
  for (const one of sample) {
    if (results[one.key]?.failed) continue;
    const reaching = by_browser.filter(({ reached }) => reached.includes(one.id));
    one.tests.push(...reaching);
    if (reaching.length === 0 || !in_time()) continue;
    let left = Number(options.seconds);
    const chosen = reaching.filter(({ seconds }, i) => (i === 0 || seconds <= left) && ((left -= seconds), true));
    await tryOut(one, ['page', 'live'].map((kind) => chosen.filter(({ name }) => kind_of(name) === kind)));
  }
}
const state = (one) => (one.tests.length === 0 ? 'not reached' : !results[one.key] ? 'not run' : results[one.key].failed ? 'noticed' : 'survived');
const count = (wanted) => sample.filter((one) => state(one) === wanted).length;
const ran = count('noticed') + count('survived');
const without = sample.filter((one) => results[one.key]?.failed && !results[one.key].in_browser).length;
writeFileSync(at('mutants.tsv'), sample.map((one) => [one.file, `line ${one.line}`, one.original, one.mutant, `${state(one)} ${results[one.key]?.how ?? ''}`].join('\t')).sort().join('\n') + '\n');
console.log(`${sample.length} mutants, ${sample.length - count('not reached')} reached, ${ran} run, ${count('noticed')} noticed, of which ${without} without a browser, ${count('survived')} survived: ${((100 * count('noticed')) / ran).toFixed(0)} %`);
