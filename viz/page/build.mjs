// `node build.mjs` builds report.template.html, which is embedded in the program. With --check it compares the file with the
// sources instead. The hash in the file lets a test do so without npm.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import esbuild from 'esbuild';

const folder = dirname(fileURLToPath(import.meta.url));
const target = join(folder, 'report.template.html');
const licences = join(folder, 'licences.txt');
const read = (name) => readFileSync(join(folder, name), 'utf8');

// The licences of the packages in the page and of their dependencies.
function licenceText() {
  const lock = JSON.parse(read('package-lock.json'));
  const parts = Object.entries(lock.packages)
    .filter(([path, one]) => path !== '' && !one.dev && !one.optional)
    .map(([path, one]) => {
      const file = readdirSync(join(folder, path)).find((name) => /^licen[cs]e/i.test(name));
      if (!file) throw new Error(`${path} has no licence`);
      return `${path.replace(/^node_modules\//, '')} ${one.version}\n\n${read(join(path, file)).trim()}\n`;
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

async function build() {
  const bundle = async (entry) => {
    const result = await esbuild.build({
      entryPoints: [join(folder, entry)], bundle: true, minify: true, write: false, format: 'iife', target: ['es2022'],
      charset: 'utf8', legalComments: 'none',
    });
    return result.outputFiles[0].text.trim();
  };
  const script = (await bundle('src/main.ts')).replaceAll('</script', '<\\/script');
  const style = await bundle('src/style.css');
  const text = licenceText();
  const mark = 'SOURCES';
  const page = read('src/page.html')
    .replace('/*style*/', () => style)
    .replace('/*script*/', () => script)
    .replace('<!--licences-->', () => `<!--\n${text.replaceAll('--', '- -')}-->`)
    .replace('@sources@', mark);
  return { page: page.replace(`content="${mark}"`, `content="${sourceHash(page)}"`), text };
}

checkImports();
const { page, text } = await build();
if (process.argv.includes('--check')) {
  const same = (file, content) => existsSync(file) && readFileSync(file, 'utf8') === content;
  if (!same(target, page) || !same(licences, text)) {
    console.error('report.template.html is not current: run `npm run build` and commit the result');
    process.exit(1);
  }
  console.log('report.template.html is current');
} else {
  writeFileSync(target, page);
  writeFileSync(licences, text);
  console.log(`report.template.html: ${Buffer.byteLength(page)} bytes`);
}
