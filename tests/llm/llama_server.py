"""llama.cpp's server in a process of its own, from the `xllamacpp` wheel: `llama_server.py MODEL PORT NAME`.

It runs under the interpreter of the environment that `tests.llm.serving` makes, and serves until it is told to stop.
"""

import signal
import sys

import xllamacpp


def main(model: str, port: int, name: str) -> None:
    given = xllamacpp.CommonParams()
    given.model.path = model
    given.model_alias = {name}
    given.n_ctx = 8192
    given.n_parallel = 1
    given.n_gpu_layers = 0
    given.ctx_shift = False
    # More threads spin on each other when the machine does other work.
    given.cpuparams.n_threads = given.cpuparams_batch.n_threads = 1
    given.hostnames = ["127.0.0.1"]
    given.port = port
    server = xllamacpp.Server(given)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    signal.sigwait({signal.SIGTERM, signal.SIGINT})


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3])
