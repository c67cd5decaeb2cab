"""Plays three steps, but ends without a word at the second PLAY."""
import os
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        message = self.rfile.read(int(self.headers["Content-Length"]))
        if message.startswith(b"( PLAY") and b"NIL" not in message:
            os._exit(1)
        reply = b"(add 1)" if message.startswith(b"( PLAY") else b"ready"
        self.send_response(200)
        self.end_headers()
        self.wfile.write(reply)


HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
