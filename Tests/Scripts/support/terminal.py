"""usage: terminal.py ANSWER COMMAND...

Runs a command at a terminal of its own, types ANSWER and a line feed once it is asked to ("Type …:"), prints what the
terminal shows, and ends with the command's exit code."""

import os
import pty
import sys

answer, command = sys.argv[1], sys.argv[2:]
child, terminal = pty.fork()
if child == 0:
    os.execvp(command[0], command)
shown = b""
asked = False
while True:
    try:
        part = os.read(terminal, 65536)
    except OSError:  # the other end is closed
        break
    if not part:
        break
    shown += part
    if not asked and b"Type " in shown and shown.rstrip().endswith(b":"):
        asked = True
        os.write(terminal, answer.encode() + b"\n")
sys.stdout.buffer.write(shown)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
