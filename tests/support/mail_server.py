"""A mail server for tests. Arguments: a file that gets each mail as a line of JSON, and behaviours:

starttls=CERTIFICATE,KEY  offers STARTTLS       auth=USER,PASSWORD  wants AUTH PLAIN, only over TLS if it has TLS
busy   answers 451 to each sender               refuse   answers 550 to each recipient
refuse=ADDRESS,...  answers 550 to these recipients
silent accepts connections and says nothing
Prints its address first.
"""
import base64, json, socketserver, ssl, sys

behaviours = dict((word.split("=") + [""])[:2] for word in sys.argv[2:])


class Conversation(socketserver.StreamRequestHandler):
    def handle(self):
        self.tls, self.user, self.mail = False, None, {}
        if "silent" in behaviours:
            self.rfile.read()
            return
        self.say("220 mail.test ready")
        while line := self.rfile.readline():
            if not self.answer(line.decode().strip()):
                return

    def say(self, *lines):
        for at, line in enumerate(lines):
            self.wfile.write((line if at == len(lines) - 1 else line.replace(" ", "-", 1)).encode() + b"\r\n")

    def answer(self, line):
        """Whether the conversation goes on."""
        word = line.upper().split(" ")[0].split(":")[0]
        if word in ("EHLO", "HELO"):
            lines = ["250 mail.test"]
            if "starttls" in behaviours and not self.tls:
                lines.append("250 STARTTLS")
            elif "auth" in behaviours:
                lines.append("250 AUTH PLAIN")
            self.say(*lines)
        elif word == "STARTTLS":
            self.say("220 go")
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*behaviours["starttls"].split(","))
            self.request = context.wrap_socket(self.request, server_side=True)
            self.rfile, self.wfile, self.tls = self.request.makefile("rb"), self.request.makefile("wb", 0), True
        elif word == "AUTH":
            words = line.split(" ")
            if len(words) < 3:
                self.say("334 ")
                words.append(self.rfile.readline().decode().strip())
            _, user, password = base64.b64decode(words[2]).decode().split("\0")
            good = f"{user},{password}" == behaviours.get("auth")
            self.user = user if good else None
            self.say("235 welcome" if good else "535 wrong user or password")
        elif word == "MAIL":
            if "auth" in behaviours and not self.user:
                self.say("530 authenticate first")
            elif "busy" in behaviours:
                self.say("451 try later")
            else:
                self.mail = {"from": line[10:], "to": [], "tls": self.tls, "user": self.user}
                self.say("250 fine")
        elif word == "RCPT":
            refused = behaviours.get("refuse")
            if refused == "" or refused and line[8:].strip("<>") in refused.split(","):
                self.say("550 no such mailbox")
            else:
                self.mail["to"].append(line[8:])
                self.say("250 fine")
        elif word == "DATA":
            self.say("354 go on")
            lines = []
            while (text := self.rfile.readline().decode().rstrip("\r\n")) != ".":
                lines.append(text)
            self.mail["lines"] = lines
            with open(sys.argv[1], "a") as out:
                out.write(json.dumps(self.mail) + "\n")
            self.say("250 taken")
        elif word == "QUIT":
            self.say("221 bye")
            return False
        else:
            self.say("500 what?")
        return True


with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Conversation) as server:
    print(f"smtp://127.0.0.1:{server.server_address[1]}", flush=True)
    server.serve_forever()
