"""Runs a stage in the Python process that defined it. Arguments: the address of its server, the number of the stage."""

import json
import os
import socket
import sys

with socket.socket(socket.AF_UNIX) as connection:
    connection.connect(sys.argv[1])
    with connection.makefile("rw", encoding="utf-8") as stream:
        stream.write(json.dumps({"stage": int(sys.argv[2]), "folder": os.getcwd()}) + "\n")
        stream.flush()
        error = stream.read()
if error:
    print(error)
    sys.exit(3)  # the last line is the message for the user
