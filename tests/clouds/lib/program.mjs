// A fake cloud as a program: it prints its addresses, is told what to do at a port of its own, and ends when its standard input does.
import http from 'node:http';

import { listen } from './http.mjs';

// `commands`: "POST /interrupt" -> what does it, with the body. What every fake can be told is there, too. `addresses`: what it prints besides.
export async function runFake(fake, commands, addresses) {
  const all = {
    'POST /settings': body => fake.configure(body),
    'POST /faults': body => fake.faults.add(body),
    'DELETE /faults': () => fake.faults.clear(),
    'POST /clock': ({ offsetMs }) => (fake.clockOffset = offsetMs),
    'GET /calls': () => fake.calls.map(({ service, action, region, account, code, parameters }) => ({ service, action, region, account, code, parameters })),
    'DELETE /calls': () => fake.calls.splice(0),
    ...commands,
  };
  const control = http.createServer(async (request, response) => {
    let text = '';
    for await (const part of request) text += part;
    const command = all[`${request.method} ${request.url}`];
    try {
      if (!command) throw new Error(`there is no ${request.method} ${request.url}; there are ${Object.keys(all).join(', ')}`);
      const answer = await command(text ? JSON.parse(text) : {});
      response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(answer ?? {}));
    } catch (error) {
      response.writeHead(400, { 'Content-Type': 'application/json' }).end(JSON.stringify({ error: error.message }));
    }
  });
  const controlUrl = `http://127.0.0.1:${await listen(control)}`;
  console.log(JSON.stringify({ ...addresses, controlUrl }));
  const end = async () => {
    await fake.close();
    process.exit(0);
  };
  process.stdin.resume().on('end', end);
  process.once('SIGTERM', end);
}
