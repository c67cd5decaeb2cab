"""Plays three steps, and leaves two children behind, one in a session of its own."""
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        message = self.rfile.read(int(self.headers["Content-Length"]))
        reply = b"(add 1)" if message.startswith(b"( PLAY") else b"ready"
        self.send_response(200)
        self.end_headers()
        self.wfile.write(reply)

    def log_message(self, *_):
        pass


children = [subprocess.Popen(["sleep", "1000"], start_new_session=own) for own in (False, True)]
print(*(child.pid for child in children), file=sys.stderr, flush=True)
HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
