"""What surrounds a machine of AWS, for tests of credentials: instance metadata, a container's credentials, STS.

Prints its address. Each answer carries what was asked, so that a test can see it: the access key id says which source
it is of. Paths that begin with /broken answer with HTTP status 500."""

import datetime
import http.server
import json
import urllib.parse


def end():
    later = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=1)
    return later.strftime("%Y-%m-%dT%H:%M:%SZ")


def document(name):
    return {"Code": "Success", "AccessKeyId": name, "SecretAccessKey": "secret-of-" + name, "Token": "token-of-" + name,
            "Expiration": end()}


def sts(form, headers):
    """The session's name of an assumed role says who assumed it, and how."""
    action = form["Action"][0]
    if form["RoleArn"][0].endswith("/forbidden"):
        return 403, ("<ErrorResponse><Error><Code>AccessDenied</Code><Message>not for you</Message></Error>"
                     "<RequestId>r-9</RequestId></ErrorResponse>")
    if action == "AssumeRole":
        signer = headers["Authorization"].split("Credential=")[1].split("/")[0]
        who = "role-by-" + signer + "-" + form.get("ExternalId", ["none"])[0] + "-" + form["RoleSessionName"][0]
    else:
        if "Authorization" in headers:
            return 400, "signed"
        who = "web-by-" + form["WebIdentityToken"][0]
    return 200, (f"<{action}Response><{action}Result><Credentials><AccessKeyId>{who}</AccessKeyId><SecretAccessKey>s"
                 f"</SecretAccessKey><SessionToken>t</SessionToken><Expiration>{end()}</Expiration></Credentials>"
                 f"</{action}Result><ResponseMetadata><RequestId>r</RequestId></ResponseMetadata></{action}Response>")


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def answer(self, status, body, kind="text/plain"):
        data = body.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def body(self):
        return self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()

    def do_PUT(self):
        self.body()
        has_life = "X-aws-ec2-metadata-token-ttl-seconds" in self.headers
        self.answer(200 if has_life and self.path.endswith("/latest/api/token") else 400, "metadata-token")

    def do_GET(self):
        roles = "/latest/meta-data/iam/security-credentials/"
        if self.path.startswith("/broken"):
            return self.answer(500, "")
        if self.path == "/container":
            token = self.headers.get("Authorization", "none")
            return self.answer(200, json.dumps(document("container-" + token)), "application/json")
        if self.headers.get("X-aws-ec2-metadata-token") != "metadata-token":
            return self.answer(401, "")
        if self.path in (roles, roles[:-1]):
            return self.answer(200, "build-role")
        if self.path == roles + "build-role":
            return self.answer(200, json.dumps(document("instance")), "application/json")
        return self.answer(404, "")

    def do_POST(self):
        status, body = sts(urllib.parse.parse_qs(self.body()), self.headers)
        self.answer(status, body, "text/xml")


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
server.serve_forever()
