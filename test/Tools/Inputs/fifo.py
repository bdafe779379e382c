"""Runs a command that writes into the FIFO which this makes, and tells what comes out of it. Usage:
fifo.py PATH COMMAND..."""

import os
import stat
import subprocess
import sys
import threading

path, command = sys.argv[1], sys.argv[2:]
os.mkfifo(path)
# Open at both ends, so that reading does not wait for a command that never opens it.
end = os.open(path, os.O_RDWR)
parts = []
done = threading.Event()


def read():
    os.set_blocking(end, False)
    while True:
        last = done.is_set()
        try:
            parts.append(os.read(end, 1 << 16))
        except BlockingIOError:
            if last:
                return
            done.wait(0.01)


reader = threading.Thread(target=read)
reader.start()
status = subprocess.call(command)
done.set()
reader.join()
text = b"".join(parts)
kind = "FIFO" if stat.S_ISFIFO(os.stat(path).st_mode) else "file"
print(f"{len(text)} bytes through a {kind}, which starts with {text[:6]}")
sys.exit(status)
