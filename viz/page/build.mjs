// `node build.mjs` builds report.template.html and live.template.html, which are embedded in the program. With --check it compares
// the files with the sources instead. The hashes in the files let a test do so without npm.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import esbuild from 'esbuild';

const folder = dirname(fileURLToPath(import.meta.url));
const pages = [
  { target: join(folder, 'report.template.html'), html: 'src/page.html', script: 'src/main.ts', style: 'src/style.css' },
  { target: join(folder, 'live.template.html'), html: 'src/live.html', script: 'src/live.ts', style: 'src/live.css' },
];
const licences = join(folder, 'licences.txt');
const read = (name) => readFileSync(join(folder, name), 'utf8');

// The licences of these packages.
function licenceText(packages) {
  const lock = JSON.parse(read('package-lock.json'));
  const parts = packages.map((path) => {
    const file = readdirSync(join(folder, path)).find((name) => /^licen[cs]e/i.test(name));
    if (!file) throw new Error(`${path} has no licence`);
    return `${path.replace(/^node_modules\//, '')} ${lock.packages[path].version}\n\n${read(join(path, file)).trim()}\n`;
  });
  return `The pages that the program writes contain parts of these packages.\n\n${parts.join('\n----\n\n')}`;
}

// A hash of the names and contents of all sources; tests/page_current.cmake computes the same.
function sourceHash(page) {
  const names = readdirSync(join(folder, 'src')).sort().map((name) => `src/${name}`);
  const lines = [...names, 'build.mjs', 'package-lock.json'].map(
    (name) => `${name} ${createHash('sha256').update(readFileSync(join(folder, name))).digest('hex')}\n`);
  lines.push(`page ${createHash('sha256').update(page).digest('hex')}\n`);
  return createHash('sha256').update(lines.join('')).digest('hex');
}

// Refuses circular imports. The bundler accepts them, and drops imports of types.
function checkImports() {
  const names = readdirSync(join(folder, 'src')).filter((name) => name.endsWith('.ts')).map((name) => name.slice(0, -3));
  const imports = new Map(names.map((name) => [name, [...read(`src/${name}.ts`).matchAll(/(?:from|import) '\.\/([^']+)'/g)].map((match) => match[1])]));
  const checked = new Set();
  const visit = (name, path) => {
    if (path.includes(name)) throw new Error(`circular imports: ${[...path.slice(path.indexOf(name)), name].join(' -> ')}`);
    if (!checked.has(name)) imports.get(name).forEach((next) => visit(next, [...path, name]));
    checked.add(name);
  };
  names.forEach((name) => visit(name, []));
}

async function build({ html, script, style }) {
  const packages = new Set();
  const bundle = async (entry) => {
    const result = await esbuild.build({
      entryPoints: [join(folder, entry)], bundle: true, minify: true, write: false, format: 'iife', target: ['es2022'],
      charset: 'utf8', legalComments: 'none', metafile: true, absWorkingDir: folder,
    });
    for (const input of Object.keys(result.metafile.inputs)) {
      const found = /^node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input);
      if (found) packages.add(found[0]);
    }
    return result.outputFiles[0].text.trim();
  };
  const scriptText = (await bundle(script)).replaceAll('</script', '<\\/script');
  const styleText = await bundle(style);
  const text = licenceText([...packages].sort());
  const mark = 'SOURCES';
  const page = read(html)
    .replace('/*style*/', () => styleText)
    .replace('/*script*/', () => scriptText)
    .replace('<!--licences-->', () => `<!--\n${text.replaceAll('--', '- -')}-->`)
    .replace('@sources@', mark);
  return { page: page.replace(`content="${mark}"`, `content="${sourceHash(page)}"`), packages };
}

checkImports();
const built = [];
const packages = new Set();
for (const one of pages) {
  const { page, packages: more } = await build(one);
  built.push([one.target, page]);
  more.forEach((name) => packages.add(name));
}
built.push([licences, licenceText([...packages].sort())]);
if (process.argv.includes('--check')) {
  if (!built.every(([file, content]) => existsSync(file) && readFileSync(file, 'utf8') === content)) {
    console.error('the pages are not current: run `npm run build` and commit the result');
    process.exit(1);
  }
  console.log('the pages are current');
} else {
  for (const [file, content] of built) {
    writeFileSync(file, content);
    console.log(`${basename(file)}: ${Buffer.byteLength(content)} bytes`);
  }
}
