// HTTP under every fake cloud: a server that can go wrong on request, a proxy, and a free port.
import http from 'node:http';

const largestBody = 1 << 20;

export async function readBody(request) {
  const parts = [];
  let size = 0;
  for await (const part of request) {
    size += part.length;
    if (size > largestBody) throw new Error('a request of more than 1 MB');
    parts.push(part);
  }
  return Buffer.concat(parts);
}

// A handler that logs what breaks inside the fake itself, and answers 500.
export function guarded(handle) {
  return (request, response) => {
    handle(request, response).catch(error => {
      console.error(error);
      if (!response.headersSent) response.writeHead(500);
      response.end();
    });
  };
}

// Waits if the fault says so, or lets something between the client and the cloud answer. True: there is nothing more to do. `type` and `opening`: how a very
// long answer begins.
export async function elseAnswers(fault, request, response, type, opening) {
  const html = { 'Content-Type': 'text/html' };
  switch (fault?.kind) {
    case 'refuse':
      request.socket.destroy();
      return true;
    case 'slow':
      await new Promise(resolve => setTimeout(resolve, fault.ms));
      return false;
    case 'big':
      response.writeHead(200, { 'Content-Type': type }).end(`${opening}${'x'.repeat(10 << 20)}`);
      return true;
    case 'html':
      response.writeHead(fault.status ?? 502, html).end('<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>');
      return true;
    case 'login':
      response.writeHead(200, html).end('<!DOCTYPE html><html><head><title>Please log in</title></head><body><form action="/login">Company proxy</form></body></html>');
      return true;
    case 'redirect':
      response.writeHead(302, { Location: 'http://127.0.0.1:1/login' }).end();
      return true;
    case 'empty':
      response.writeHead(200).end();
      return true;
    default:
      return false;
  }
}

// Listens at a free port of the loopback interface.
export async function listen(server) {
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve));
  return server.address().port;
}

// A proxy for plain HTTP, which notes what passed through.
export function proxyServer(passed) {
  return http.createServer((request, response) => {
    passed.push(request.url);
    const onward = http.request(request.url, { method: request.method, headers: request.headers }, answer => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.writeHead(502).end());
    request.pipe(onward);
  });
}
