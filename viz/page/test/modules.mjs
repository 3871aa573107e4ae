// Tests the modules of the page without a browser: `node test/modules.mjs [NAME...]` bundles test/modules/NAME.test.mjs with the sources
// and runs them in node. Exit code 77: skipped, because the packages of this folder are not installed. test/modules/dom.mjs takes the
// place of the browser.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const esbuild = await import('esbuild').catch(() => null);
if (!esbuild) {
  console.log("tests of the page's modules skipped: 'npm ci' was not run in viz/page");
  process.exit(77);
}
const folder = fileURLToPath(new URL('modules', import.meta.url));
const all = readdirSync(folder).filter((name) => name.endsWith('.test.mjs')).map((name) => name.replace('.test.mjs', ''));
const wanted = process.argv.length > 2 ? process.argv.slice(2) : all;
const out = process.env.PAGE_BUNDLES ?? mkdtempSync(join(tmpdir(), 'page_modules_'));
await esbuild.build({
  entryPoints: wanted.map((name) => join(folder, `${name}.test.mjs`)), bundle: true, format: 'esm', platform: 'node', target: ['node18'], outdir: out, outExtension: { '.js': '.mjs' }, logLevel: 'warning',
});
if (process.env.PAGE_BUNDLES) process.exit(0); // the caller runs them
process.env.PAGE_GOLDEN ??= pathToFileURL(fileURLToPath(new URL('../../../tests/golden/page/modules/', import.meta.url))).href;
const { status } = spawnSync(process.execPath, ['--test', ...wanted.map((name) => join(out, `${name}.test.mjs`))], { stdio: 'inherit' });
rmSync(out, { recursive: true });
process.exit(status ?? 1);
