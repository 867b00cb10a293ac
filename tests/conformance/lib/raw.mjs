// Requests as no well-behaved client makes them.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import net from 'node:net';
import { promisify } from 'node:util';

import { inTime } from '../../support/node/waiting.mjs';

const run = promisify(execFile);

// What curl is answered: {status, headers, body}; header names in small letters.
export async function curl(url, ...parameters) {
  const { stdout } = await run('curl', ['-sS', '--path-as-is', '-i', '-m', '30', ...parameters, url], {
    encoding: 'latin1', maxBuffer: 1 << 26,
  });
  return parseAnswers(stdout).at(-1);
}

// One answer after the other, as they stand in the bytes (latin1).
export function parseAnswers(text) {
  const answers = [];
  while (text.length > 0) {
    const end = text.indexOf('\r\n\r\n');
    const [first, ...lines] = text.slice(0, end).split('\r\n');
    const headers = Object.fromEntries(lines.map(line => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]));
    const status = Number(first.split(' ')[1]);
    text = text.slice(end + 4);
    if (status === 100) continue;
    const length = Math.min(Number(headers['content-length'] ?? 0), text.length);
    const body = Buffer.from(text.slice(0, length), 'latin1').toString('utf8');
    answers.push({ status, headers, body, json: () => JSON.parse(body) });
    text = text.slice(length);
  }
  return answers;
}

// Sends the bytes at once, closes our side if there is no more, and reads until the host closes the connection.
export async function send(rootUrl, bytes, { andNoMore = false } = {}) {
  const { hostname, port } = new URL(rootUrl);
  const socket = net.connect({ host: hostname, port: Number(port) });
  const chunks = [];
  socket.on('data', chunk => chunks.push(chunk));
  socket.on('error', () => {}); // closing while we still write is an answer, too
  socket.write(bytes, 'latin1');
  if (andNoMore) socket.end();
  await inTime('the host closes the connection', once(socket, 'close'));
  return parseAnswers(Buffer.concat(chunks).toString('latin1'));
}
