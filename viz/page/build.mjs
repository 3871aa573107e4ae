// Builds report.template.html, the one file that the program carries: `node build.mjs`. With --check: is the file that is there
// what would be built? The hash in the file lets a test without npm ask whether it belongs to these sources.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import esbuild from 'esbuild';

const folder = dirname(fileURLToPath(import.meta.url));
const target = join(folder, 'report.template.html');
const licences = join(folder, 'licences.txt');
const read = (name) => readFileSync(join(folder, name), 'utf8');

// The packages that end up in the page, with all that they need, and their licences.
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

// Names and contents of all that the page is made of; tests/page_current.cmake computes the same.
function sourceHash(page) {
  const names = readdirSync(join(folder, 'src')).sort().map((name) => `src/${name}`);
  const lines = [...names, 'build.mjs', 'package-lock.json'].map(
    (name) => `${name} ${createHash('sha256').update(readFileSync(join(folder, name))).digest('hex')}\n`);
  lines.push(`page ${createHash('sha256').update(page).digest('hex')}\n`);
  return createHash('sha256').update(lines.join('')).digest('hex');
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

const { page, text } = await build();
if (process.argv.includes('--check')) {
  const same = (file, content) => existsSync(file) && readFileSync(file, 'utf8') === content;
  if (!same(target, page) || !same(licences, text)) {
    console.error('report.template.html is not what these sources make: run `npm run build`, and commit what it writes');
    process.exit(1);
  }
  console.log('report.template.html is current');
} else {
  writeFileSync(target, page);
  writeFileSync(licences, text);
  console.log(`report.template.html: ${Buffer.byteLength(page)} bytes`);
}
