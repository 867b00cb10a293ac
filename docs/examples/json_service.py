"""What both examples share: POST /<method> with a JSON document, answered by a function of that name."""
import http.server, json, os, secrets, sys, threading

def serve(methods):
    token, lock = os.environ.get("SERVICE_TOKEN"), threading.Lock()

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"  # connections are kept for the next call
        disable_nagle_algorithm = True

        def do_POST(self):
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            method = methods.get(self.path.rsplit("/", 1)[-1])
            if token and not secrets.compare_digest(self.headers.get("Authorization", ""), "Bearer " + token):
                status, answer = 401, {"error": {"class": "auth", "message": "the token is wrong"}}
            elif method is None:
                status, answer = 404, {"error": {"class": "unsupported", "message": "there is no " + self.path}}
            else:
                with lock:
                    status, answer = 200, method(json.loads(body))
            text = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_):
            pass

    port = int(sys.argv[1]) if len(sys.argv) > 1 else 0  # 0: any free one
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
