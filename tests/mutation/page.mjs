// Measures whether the browser tests notice small faults in the TypeScript of the pages that the program writes and serves:
//
//   node tests/mutation/page.mjs PROGRAM [--seed N] [--mutants N] [--seconds N] [--minutes N] [--work FOLDER]
//
// PROGRAM: a built `workbench`. Stryker's instrumenter, which npm installs into the work folder, finds the faults ("mutants") in
// viz/page/src and writes those of a sample into one copy of the pages, in which a variable chooses the active one. Each test runs once
// and records which mutants it reaches: a page of tests/page_test.sh, or a part of viz/page/test/live.mjs. Then the tests that reach a
// mutant run, those that reach most mutants first, until a check fails, the console gets an error, or three times the usual time is up.
// A mutant that ran out of time runs a second time before it counts as noticed.
// --mutants: size of the sample (default: 80). --work: default /tmp/page_mutants.
// --seconds: the tests of one mutant take at most so long together, but one runs in any case (default: 120).
// --minutes: no mutant begins later (default: 60). The same command continues, and runs survivors again.
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
  const all = mutants.filter((one) => one.status !== 'Ignored').map((one) => described(one, content.get(one.fileName))).filter((one) => !is_text(one));
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
  cpSync(join(source, 'viz/page'), at('page'), { recursive: true, filter: (name) => !/node_modules|viz\/page\/test/.test(name) });
  symlinkSync(join(source, 'viz/page/node_modules'), at('page', 'node_modules'));
  for (const { name, content: text } of files) {
    writeFileSync(at('page', 'src', name), text
      .replace(/stryMutAct_9fa48\("(\d+)"\)/g, (whole, id) => (ids.has(id) ? whole : 'false'))
      .replace(/stryCov_9fa48\(("[^)]*)\)/g, (_, list) => {
        const kept = list.split(', ').filter((id) => ids.has(JSON.parse(id)));
        return kept.length > 0 ? `stryCov_9fa48(${kept.join(', ')})` : 'undefined';
      }));
  }
  command('node', at('page', 'build.mjs'));
  if (!existsSync(at('pages', 'choose', 'report.html'))) {
    mkdirSync(at('pages'), { recursive: true });
    command('bash', join(source, 'tests/page_test.sh'), program, source, at('pages'));
  }
  process.env.PLANTED_PAGES = at('page');
  const { planted: with_script } = await import('./planted_page.mjs');
  for (const name of names_of_pages()) writeFileSync(page_of(name), with_script(readFileSync(page_of(name), 'utf8')));
  console.log(`${all.length} mutants; ${sample.length} of seed ${options.seed}, of which ${sample.length - planted.length} are known to change no behaviour`);
  return planted;
}

const page_of = (name) => at('pages', name, 'report.html');
const names_of_pages = () => readdirSync(at('pages')).filter((name) => existsSync(page_of(name)));
const parts = ['editing', 'lecture', 'windows', 'killed', 'begins', 'lessons', 'keys'];
const tests = () => [...names_of_pages(), ...parts.map((part) => `live ${part}`)];
const is_live = (name) => name.startsWith('live ');

// One command for all of these tests, either pages or parts of the live page.
const command_of = (names) => (is_live(names[0])
  ? ['bash', join(source, 'tests/live_test.sh'), program, source, ...names.map((name) => name.slice(5))]
  : ['node', join(source, 'viz/page/test/browser.mjs'), ...names.map(page_of)]);

let running = () => undefined; // ends the test that runs
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => (running(), process.exit(1)));

// Runs these tests; resolves with the last words, and whether one failed or ran out of time.
function run(names, limit, mutant, reached = '') {
  return new Promise((done) => {
    rmSync(at('tmp'), { recursive: true, force: true, maxRetries: 5 });
    mkdirSync(at('tmp'));
    const env = { ...process.env, TMPDIR: at('tmp'), NODE_OPTIONS: `--import=${pathToFileURL(join(here, 'planted_page.mjs'))}`, MUTANT: mutant, REACHED: reached };
    const [word, ...words] = command_of(names);
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
      const how = /(FAILED|\w*Error): .*/.exec(text)?.[0] ?? text.split('\n').at(-1);
      late ||= /Timeout|come to rest/.test(how);
      done({ failed: late || status !== 0, late, seconds: (Date.now() - start) / 1000, how: `${late ? 'out of time: ' : ''}${how.slice(0, 200)}` });
    });
  });
}

async function record(sample) {
  const stamp = hash(sample.map((one) => one.id) + read('page', 'report.template.html') + read('page', 'live.template.html'));
  const before = read_json('reached.json');
  const found = before.stamp === stamp ? before.tests : [];
  for (const name of tests()) {
    if (found.some((one) => one.name === name)) continue;
    const { failed, seconds, how } = await run([name], 300, '', at('reached'));
    console.log(`${seconds.toFixed(1).padStart(6)} s  ${name}${failed ? `: left out, because it fails without a mutant: ${how}` : ''}`);
    found.push({ name, seconds, reached: failed ? [] : JSON.parse(read('reached')) });
    write_json('reached.json', { stamp, tests: found });
  }
  return found;
}

const sample = await plan();
const reaching = (await record(sample)).sort((a, b) => b.reached.length - a.reached.length);
const results = read_json('results.json');
for (const one of sample) {
  one.tests = reaching.filter(({ reached }) => reached.includes(one.id));
  if (one.tests.length === 0 || results[one.key]?.failed || Date.now() - began > 60000 * options.minutes) continue;
  const start = Date.now();
  let [result, left] = [{ failed: false }, Number(options.seconds)];
  const chosen = one.tests.filter(({ seconds }, i) => (i === 0 || seconds <= left) && ((left -= seconds), true));
  for (const group of [chosen.filter(({ name }) => !is_live(name)), chosen.filter(({ name }) => is_live(name))]) {
    if (group.length === 0 || result.failed) continue;
    const names = group.map(({ name }) => name);
    const limit = 3 * group.reduce((sum, { seconds }) => sum + seconds, 0) + 5;
    result = await run(names, limit, one.id);
    if (result.late) result = await run(names, limit, one.id);
  }
  results[one.key] = { ...result, seconds: (Date.now() - start) / 1000 };
  write_json('results.json', results);
  console.log(`${result.failed ? 'noticed ' : 'SURVIVED'} ${results[one.key].seconds.toFixed(0).padStart(4)} s  ${one.file}:${one.line}  ${one.original.slice(0, 70)}  ->  ${one.mutant.slice(0, 70)}  ${result.failed ? result.how : ''}`);
}
const state = (one) => (one.tests.length === 0 ? 'not reached' : !results[one.key] ? 'not run' : results[one.key].failed ? 'noticed' : 'survived');
const count = (wanted) => sample.filter((one) => state(one) === wanted).length;
const ran = count('noticed') + count('survived');
writeFileSync(at('mutants.tsv'), sample.map((one) => [one.file, `line ${one.line}`, one.original, one.mutant, `${state(one)} ${results[one.key]?.how ?? ''}`].join('\t')).sort().join('\n') + '\n');
console.log(`${sample.length} mutants, ${sample.length - count('not reached')} reached, ${ran} run, ${count('noticed')} noticed, ${count('survived')} survived: ${((100 * count('noticed')) / ran).toFixed(0)} %`);
