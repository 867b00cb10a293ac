// Makes the files of the dashboard, and the C++ in which the host and the command line have them:
//   node build.mjs <output folder>
// Runs beside node_modules. A file's name has a digest of its content, so that browsers may keep it for ever.
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';

import { build } from 'esbuild';

const here = path.dirname(new URL(import.meta.url).pathname);
const output = path.resolve(process.argv[2]);
const mostBytes = 120 * 1024;  // of all files, compressed

async function bundle(entry) {
  const { outputFiles } = await build({
    entryPoints: [path.join(here, 'src', entry)],
    bundle: true,
    minify: true,
    write: false,
    outdir: output,
    format: 'iife',
    target: ['es2021'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    define: { 'process.env.NODE_ENV': '"production"' },
    legalComments: 'none',
    logLevel: 'warning',
  });
  const text = end => outputFiles.find(file => file.path.endsWith(end)).text;
  return { script: text('.js'), style: text('.css') };
}

// In octal, which is the shortest that any byte can follow.
const literal = bytes =>
  bytes.toString('latin1').replace(/[^]{1,100}/g, part =>
    `    "${part.replace(/[^ !#->@-[\]-~]/g, c => `\\${c.charCodeAt(0).toString(8).padStart(3, '0')}`)}"\n`);

function cppFile(file, header, namespace, files) {
  const rows = files.map(({ name, type, bytes, unchanging }) =>
    `    {"${name}", "${type}", std::string_view(\n${literal(bytes)}    , ${bytes.length}), ${unchanging}},\n`);
  const text = `// Made from web/ by web/build.mjs.\n#pragma GCC diagnostic ignored "-Woverlength-strings"\n#include "${header}"\n\nnamespace ${namespace} {\n\n` +
    `static const WebFile files[] = {\n${rows.join('')}};\n\n` +
    `std::span<const WebFile> web_files() {\n  return files;\n}\n\n}  // namespace ${namespace}\n`;
  fs.writeFileSync(path.join(output, file), text);
}

const hashed = (name, text) => {
  const [stem, end] = name.split('.');
  return `${stem}-${createHash('sha256').update(text).digest('hex').slice(0, 16)}.${end}`;
};
const packed = text => gzipSync(text, { level: 9 });

async function dashboard() {
  const { script, style } = await bundle('main.tsx');
  const icon = fs.readFileSync(path.join(here, 'icon.svg'), 'utf8');
  const parts = [
    ['script', 'dashboard.js', 'text/javascript; charset=utf-8', script],
    ['style', 'dashboard.css', 'text/css; charset=utf-8', style],
    ['icon', 'icon.svg', 'image/svg+xml', icon],
  ].map(([place, name, type, text]) => ({ place, name: hashed(name, text), type, text, unchanging: true }));
  let page = fs.readFileSync(path.join(here, 'index.html'), 'utf8');
  for (const part of parts) page = page.replace(`@${part.place}@`, part.name);
  const files = [{ name: '', type: 'text/html; charset=utf-8', text: page, unchanging: false }, ...parts]
    .map(file => ({ ...file, bytes: packed(file.text) }));
  const size = files.reduce((sum, file) => sum + file.bytes.length, 0);
  if (size > mostBytes)
    throw new Error(`the dashboard has ${size} bytes when compressed; ${mostBytes} is the limit`);
  for (const file of parts) fs.writeFileSync(path.join(output, file.name), file.text);
  fs.writeFileSync(path.join(output, 'index.html'), page);
  fs.writeFileSync(path.join(output, 'size'), `${size}\n`);
  cppFile('dashboard_files.cpp', 'host/api/dashboard.hpp', 'muster::api', files);
}

// One page with everything in it; the command line puts its document in the place of the mark.
async function simulation() {
  const { script, style } = await bundle('simulation.tsx');
  const digest = text => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
  const safe = script.replaceAll('</script', '<\\/script');
  const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src ${digest(safe)}; style-src ${digest(style)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Simulation · muster</title>
<style>${style}</style>
</head>
<body>
<div id="app"></div>
<script type="application/json" id="simulation">@simulation@</script>
<script>${safe}</script>
</body>
</html>
`;
  const bytes = Buffer.from(page, 'utf8');
  fs.writeFileSync(path.join(output, 'simulation_files.cpp'),
    `// Made from web/ by web/build.mjs.\n#pragma GCC diagnostic ignored "-Woverlength-strings"\n#include "cli/simulate/html_page.hpp"\n\nnamespace muster::cli {\n\n` +
    `std::string_view simulation_template() {\n  return std::string_view(\n${literal(bytes)}      , ${bytes.length});\n}\n\n}  // namespace muster::cli\n`);
}

fs.rmSync(output, { recursive: true, force: true });
fs.mkdirSync(output, { recursive: true });
await dashboard();
await simulation();
