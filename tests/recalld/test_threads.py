"""Numerical libraries keep to one thread, unless the user says otherwise."""

from __future__ import annotations

import subprocess
import sys

from recalld.threads import limit_threads


def test_limits_are_set_where_nobody_set_them():
    env = {"OMP_NUM_THREADS": "3"}
    limit_threads(env)
    assert env == {
        "OMP_NUM_THREADS": "3",
        "OPENBLAS_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
    }


def test_neither_it_nor_the_command_line_has_loaded_a_numerical_library():
    code = "import sys, recalld.threads, daemon.cli; print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
