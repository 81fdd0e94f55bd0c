"""Tests of Thenga.

Suites start dozens of processes, and a process that may keep no bytecode compiles Thenga and its
libraries anew: that is half of its start. So bytecode is kept, whatever the environment says.
"""

import os
import sys

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
