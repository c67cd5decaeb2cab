"""Plays three steps, and leaves a grandchild behind that nothing ties to it: in a session of its
own, without a parent, with an empty environment. Notes the numbers of all processes in a file.
With `kill` it kills its parent instead of playing; with `stop` it stops it, and plays."""
import os
import signal
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

port, notes = sys.argv[1:3]


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        message = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"(add 1)" if message.startswith(b"( PLAY") else b"ready")

    def log_message(self, *_):
        pass


def note(process):
    with open(notes, "a") as file:
        file.write(f"{process}\n")


note(os.getpid())
note(os.getppid())
# Ends when the grandchild has noted itself: it is replaced by another program then.
reader, writer = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        note(os.getpid())
        os.execve("/bin/sleep", ["sleep", "1000"], {})
    os._exit(0)
os.wait()
os.close(writer)
os.read(reader, 1)
if len(sys.argv) > 3:
    os.kill(os.getppid(), signal.SIGKILL if sys.argv[3] == "kill" else signal.SIGSTOP)
    if sys.argv[3] == "kill":
        # No reply may be faster than what ends it.
        signal.pause()
HTTPServer(("127.0.0.1", int(port)), Handler).serve_forever()
