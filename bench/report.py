"""What a measurement gives: figures with their targets, the machine they were seen on, a table and a file."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

_REPOSITORY = Path(__file__).parents[1]
OUT = Path(__file__).parent / "out"


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One thing measured. `value` is None where it could not be; the target is a most, None = none."""

    name: str
    value: float | str | None
    unit: str = ""
    target: float | None = None

    @property
    def misses(self) -> bool:
        """Whether it has a target and is above it, or was not measured."""
        if self.target is None:
            return False
        return not isinstance(self.value, int | float) or self.value > self.target


def spread(name: str, values: Sequence[float], unit: str, **targets: float) -> list[Figure]:
    """p50 and p95 of what was measured, with `p50=` and `p95=` as targets."""
    return [
        Figure(
            name=f"{name}, {label}",
            value=round(float(np.percentile(values, share)), 3) if values else None,
            unit=unit,
            target=targets.get(label),
        )
        for label, share in (("p50", 50), ("p95", 95))
    ]


def machine() -> dict[str, Any]:
    """The processor, and how busy it is now."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return {
        "cores": os.cpu_count(),
        "model": models[0] if models else platform.machine(),
        "load_1min": round(os.getloadavg()[0], 2),
        "system": platform.platform(),
        "python": platform.python_version(),
    }


def commit() -> str:
    """The commit of the checkout, with `+` when it holds other changes."""
    head = _git("rev-parse", "--short", "HEAD")
    changed = _git("status", "--porcelain", "--untracked-files=no")
    return f"{head}{'+' if changed else ''}" if head else "unknown"


def _git(*words: str) -> str:
    try:
        ran = subprocess.run(
            ["git", *words],
            cwd=_REPOSITORY,
            capture_output=True,
            text=True,
            timeout=10,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return ran.stdout.strip()


def keep(path: Path, item: str, vault: str, figures: Sequence[Figure]) -> None:
    """Puts an item's figures into the file; the other items keep theirs, each with its own circumstances."""
    kept = json.loads(path.read_text("utf-8")) if path.exists() else {}
    kept[item] = {
        "date": datetime.now().astimezone().isoformat(timespec="seconds"),
        "commit": commit(),
        "vault": vault,
        "machine": machine(),
        "figures": [asdict(one) for one in figures],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", "utf-8")


def show(item: str, figures: Sequence[Figure]) -> None:
    """Prints an item's figures as a table; what misses its target is marked."""
    print(f"\n{item}")
    for one in figures:
        value = "-" if one.value is None else f"{one.value}"
        target = "" if one.target is None else f"<= {one.target:g}"
        mark = "MISSED" if one.misses else ""
        print(f"  {one.name:<62} {value:>10} {one.unit:<8} {target:<9} {mark}".rstrip(), flush=True)
