"""An HTTP service that misbehaves as its path says: POST /<behaviour>[/<argument>]/<method>.

With two arguments, a certificate and its key, it speaks TLS. Prints its address first.
"""
import json, socket, socketserver, ssl, sys, urllib.parse

hits = []  # paths of all requests so far


def head(status, *lines):
    return ("\r\n".join([f"HTTP/1.1 {status} X", *lines]) + "\r\n\r\n").encode()


def whole(status, body, *lines):
    return head(status, f"Content-Length: {len(body)}", *lines) + body


class Handler(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True

    def handle(self):
        while True:
            try:
                if not self.one():
                    return
            except (ConnectionError, BrokenPipeError, ssl.SSLError):
                return

    def one(self):
        """Whether the connection goes on."""
        request = self.rfile.readline().decode("latin-1").split()
        if len(request) < 2:
            return False
        headers = {}
        while (line := self.rfile.readline().decode("latin-1").strip()):
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        body = self.rfile.read(int(headers.get("content-length", 0)))
        _, behaviour, *rest = request[1].split("/")
        arguments = [urllib.parse.unquote(argument) for argument in rest[:-1]]
        hits.append(request[1])
        return getattr(self, behaviour)(arguments, headers, body)

    def send(self, data):
        self.wfile.write(data)
        return True

    def silent(self, *_):  # until the client has gone
        self.rfile.read(1)
        return False

    def drip(self, *_):
        self.send(head(200, "Content-Length: 1000000"))
        while self.send(b"{" + b" " * 10):
            self.connection.settimeout(0.01)
            try:
                if not self.connection.recv(1):
                    return False
            except socket.timeout:
                pass

    def cut(self, *_):
        self.send(head(200, "Content-Length: 100") + b'{"capacity"')
        return False

    def close(self, *_):
        return False

    def huge(self, *_):
        return self.endless(head(200, f"Content-Length: {1 << 30}"))

    def unbounded(self, *_):
        return self.endless(head(200, "Connection: close"))

    def endless(self, start):
        self.send(start)
        for _ in range(1 << 14):
            self.send(b" " * (1 << 16))
        return False

    def headers(self, *_):
        self.send(b"HTTP/1.1 200 X\r\n")
        for i in range(1 << 16):
            self.send(f"X-Filler-{i}: {'y' * 1000}\r\n".encode())
        return False

    def garbage(self, *_):
        self.send(b"\x00\xff\xfe this is not HTTP\r\n\r\n")
        return False

    def deep(self, *_):
        return self.send(whole(200, b'{"x":' + b"[" * 100_000))

    def redirect(self, *_):
        return self.send(whole(302, b"", "Location: /say/%7B%7D/elsewhere"))

    def status(self, arguments, *_):  # <status>, <body>, header lines
        body = arguments[1].encode() if len(arguments) > 1 else b""
        return self.send(whole(arguments[0], body, *arguments[2:]))

    def say(self, arguments, *_):
        return self.send(whole(200, arguments[0].encode()))

    def show(self, _, headers, body):  # what was asked, as the reason of a size
        asked = {"headers": headers, "document": json.loads(body), "hits": hits}
        return self.send(whole(200, json.dumps({"capacity": 0, "reason": json.dumps(asked)}).encode()))

    def once(self, *_):  # answers, and drops the connection that it said it would keep
        self.send(whole(200, b'{"capacity": 0, "reason": "once"}'))
        return False


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True

    def get_request(self):
        connection, address = super().get_request()
        if context:
            connection = context.wrap_socket(connection, server_side=True, do_handshake_on_connect=False)
        return connection, address

    def handle_error(self, *_):
        pass


context = None
if len(sys.argv) > 2:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[1], sys.argv[2])
server = Server(("127.0.0.1", 0), Handler)
print(f"{'https' if context else 'http'}://127.0.0.1:{server.server_address[1]}", flush=True)
server.serve_forever()
