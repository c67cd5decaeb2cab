"""Plays three steps, but does not move while there is a file `hang` in its folder."""
import os
import sys
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

port, folder = sys.argv[1:]


def note(name):
    with open(os.path.join(folder, name), "a") as file:
        file.write(f"{os.getpid()}\n")


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        message = self.rfile.read(int(self.headers["Content-Length"]))
        is_play = message.startswith(b"( PLAY")
        if is_play:
            note("asked")
        while is_play and os.path.exists(os.path.join(folder, "hang")):
            time.sleep(0.01)
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"(add 1)" if is_play else b"ready")


note("launched")
HTTPServer(("127.0.0.1", int(port)), Handler).serve_forever()
